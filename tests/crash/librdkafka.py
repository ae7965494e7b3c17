"""The few calls of librdkafka that the crash tests need, without a package: topics made, and read to their end."""
import ctypes
import time
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p, create_string_buffer

PRODUCER, CONSUMER = 0, 1
BEGINNING, PARTITION_EOF = -2, -191


class Message(Structure):
    _fields_ = [("err", c_int), ("topic", c_void_p), ("partition", c_int32), ("payload", c_void_p), ("len", c_size_t),
                ("key", c_void_p), ("key_len", c_size_t), ("offset", c_int64), ("private", c_void_p)]


def _library():
    lib = ctypes.CDLL("librdkafka.so.1")
    for name, result, arguments in [
            ("conf_new", c_void_p, []), ("conf_set", c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t]),
            ("new", c_void_p, [c_int, c_void_p, c_char_p, c_size_t]), ("destroy", None, [c_void_p]),
            ("topic_new", c_void_p, [c_void_p, c_char_p, c_void_p]), ("topic_destroy", None, [c_void_p]),
            ("consume_start", c_int, [c_void_p, c_int32, c_int64]), ("consume_stop", c_int, [c_void_p, c_int32]),
            ("consume_batch", ctypes.c_ssize_t, [c_void_p, c_int32, c_int, POINTER(POINTER(Message)), c_size_t]),
            ("message_destroy", None, [POINTER(Message)]), ("queue_new", c_void_p, [c_void_p]),
            ("queue_destroy", None, [c_void_p]), ("queue_poll", c_void_p, [c_void_p, c_int]),
            ("event_error", c_int, [c_void_p]), ("event_error_string", c_char_p, [c_void_p]), ("event_destroy", None, [c_void_p]),
            ("NewTopic_new", c_void_p, [c_char_p, c_int, c_int, c_char_p, c_size_t]), ("NewTopic_destroy", None, [c_void_p]),
            ("CreateTopics", None, [c_void_p, POINTER(c_void_p), c_size_t, c_void_p, c_void_p])]:
        function = getattr(lib, f"rd_kafka_{name}")
        function.restype, function.argtypes = result, arguments
    return lib


LIB = _library()


class Client:
    def __init__(self, kind, address):
        text = create_string_buffer(512)
        conf = LIB.rd_kafka_conf_new()
        options = {"bootstrap.servers": address}
        if kind == CONSUMER:
            options |= {"enable.partition.eof": "true", "isolation.level": "read_committed"}
        for key, value in options.items():
            if LIB.rd_kafka_conf_set(conf, key.encode(), value.encode(), text, 512):
                raise RuntimeError(text.value.decode())
        self.handle = LIB.rd_kafka_new(kind, conf, text, 512)
        if not self.handle:
            raise RuntimeError(text.value.decode())

    def __enter__(self):
        return self.handle

    def __exit__(self, *_):
        LIB.rd_kafka_destroy(self.handle)


def create_topic(address, name, partitions):
    with Client(PRODUCER, address) as handle:
        text = create_string_buffer(512)
        topic = c_void_p(LIB.rd_kafka_NewTopic_new(name.encode(), partitions, 1, text, 512))
        queue = LIB.rd_kafka_queue_new(handle)
        LIB.rd_kafka_CreateTopics(handle, byref(topic), 1, None, queue)
        event = LIB.rd_kafka_queue_poll(queue, 60000)
        failed = event is None and "no answer" or LIB.rd_kafka_event_error(event) and LIB.rd_kafka_event_error_string(event)
        if event:
            LIB.rd_kafka_event_destroy(event)
        LIB.rd_kafka_NewTopic_destroy(topic)
        LIB.rd_kafka_queue_destroy(queue)
        if failed:
            raise RuntimeError(f"topic {name}: {failed}")


def read_topic(address, name, partitions, patience_s=60):
    """All messages as (key, value), bytes or None; those of a partition in its order."""
    batch = (POINTER(Message) * 1000)()
    with Client(CONSUMER, address) as handle:
        topic = LIB.rd_kafka_topic_new(handle, name.encode(), None)
        for partition in range(partitions):
            LIB.rd_kafka_consume_start(topic, partition, BEGINNING)
            ended, last = False, time.monotonic()
            while not ended:
                count = LIB.rd_kafka_consume_batch(topic, partition, 50, batch, 1000)
                if count < 0 or count == 0 and time.monotonic() - last > patience_s:
                    raise RuntimeError(f"topic {name}/{partition}: no messages and no end")
                last = time.monotonic() if count else last
                for i in range(count):
                    message = batch[i].contents
                    ended = ended or message.err == PARTITION_EOF
                    if not message.err:
                        yield (ctypes.string_at(message.key, message.key_len) if message.key else None,
                               ctypes.string_at(message.payload, message.len) if message.payload else None)
                    LIB.rd_kafka_message_destroy(batch[i])
            LIB.rd_kafka_consume_stop(topic, partition)
        LIB.rd_kafka_topic_destroy(topic)
