// A bounded channel between two tasks: single producer, single consumer, messages in order.
//
// The bound is soft by one step of the producer: it asks HasRoomOrWait before a step and may then send what the step
// makes.  All waking happens under the channel's mutex, so neither side can miss the other; the mutex is taken once a
// message (a batch of thousands of rows), not once a row.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/runtime/operator.h"

namespace weir {

struct Message {
  enum class Kind : uint8_t {
    kBatch,
    kWatermark,
    kIdle,     // the sender will be silent for now: its watermark does not hold others back
    kBarrier,  // closes `epoch`; still sent after kEnd
    kEnd,      // no more rows and watermarks
  };
  Kind kind = Kind::kBatch;
  Batch batch;         // empty but for kBatch
  size_t bytes = 0;    // of the batch, set by the channel
  Micros watermark = kMinMicros;
  Epoch epoch = 0;
};

class Channel {
 public:
  Channel(size_t max_rows, size_t max_bytes) : max_rows_(max_rows), max_bytes_(max_bytes) {}

  // Set once, before the tasks run.  `wake_consumer` after every send, `wake_producer` when room appears after a
  // refused HasRoomOrWait.
  void Connect(std::function<void()> wake_producer, std::function<void()> wake_consumer) {
    wake_producer_ = std::move(wake_producer);
    wake_consumer_ = std::move(wake_consumer);
  }

  // Producer: false means that wake_producer will be called.
  bool HasRoomOrWait() {
    const std::lock_guard lock(mutex_);
    if (Full()) {
      producer_waits_ = true;
      return false;
    }
    return true;
  }

  void Send(Message message) {
    message.bytes = message.batch.ByteSize();
    {
      const std::lock_guard lock(mutex_);
      rows_ += message.batch.rows();
      bytes_ += message.bytes;
      queue_.push_back(std::move(message));
    }
    wake_consumer_();
  }

  // Consumer.
  std::optional<Message> Receive() {
    std::optional<Message> message;
    bool wake = false;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) return std::nullopt;
      message = std::move(queue_.front());
      queue_.pop_front();
      rows_ -= message->batch.rows();
      bytes_ -= message->bytes;
      if (producer_waits_ && !Full()) {
        producer_waits_ = false;
        wake = true;
      }
    }
    if (wake) wake_producer_();
    return message;
  }

 private:
  bool Full() const { return rows_ >= max_rows_ || bytes_ >= max_bytes_; }

  const size_t max_rows_;
  const size_t max_bytes_;
  std::function<void()> wake_producer_;
  std::function<void()> wake_consumer_;
  std::mutex mutex_;
  std::deque<Message> queue_;
  size_t rows_ = 0;
  size_t bytes_ = 0;
  bool producer_waits_ = false;
};

}  // namespace weir
