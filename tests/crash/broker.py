"""A Kafka broker of a test's own, which it may stop, freeze and kill; and what stands in its topics."""
import json, os, signal, socket, subprocess

from librdkafka import create_topic, read_topic

KAFKA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "kafka", "kafka")


def free_port():
    """A port that is free, and so is the one 10000 above it, which the controller takes."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1] - 10000
        with socket.socket() as s:
            if port > 1024 and s.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Broker:
    def __init__(self, folder, port=0):
        self.port, self.folder = port or free_port(), os.path.abspath(folder)
        self.address = f"127.0.0.1:{self.port}"
        self.partitions = {}

    def _kafka(self, *words):
        env = {"KAFKA_HEAP": "512m", **os.environ}
        return subprocess.run([KAFKA, *words, "--port", str(self.port), "--dir", self.folder], check=True, env=env,
                              stdout=subprocess.DEVNULL)

    def start(self):
        self._kafka("start")

    def stop(self, wipe=False):
        self._kafka("stop", *(["--wipe"] if wipe else []))

    def signal(self, number):
        with open(os.path.join(self.folder, "kafka.pid"), encoding="utf-8") as f:
            os.kill(int(f.read()), number)

    def freeze(self):
        self.signal(signal.SIGSTOP)

    def thaw(self):
        self.signal(signal.SIGCONT)

    def topic(self, name, partitions):
        create_topic(self.address, name, partitions)
        self.partitions[name] = partitions

    def read(self, topic):
        """The last value of every key, without the keys whose last message is a tombstone."""
        rows = dict(read_topic(self.address, topic, self.partitions[topic]))
        return [json.loads(value) for value in rows.values() if value is not None]
