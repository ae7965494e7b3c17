// The rows that a MemoryFeed holds: shared by the feeding program and the source's tasks.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connectors/memory/memory.h"

namespace weir {

struct MemoryFeed::State {
  enum class ItemKind { kRows, kMessage, kIdle };

  // What one call of the feeding side added to a partition.
  struct Item {
    ItemKind kind = ItemKind::kRows;
    uint64_t sequence = 0;  // order of arrival over all partitions
    int64_t first_row = 0;  // running number of the first row in the partition
    Batch rows;             // kRows
    std::string value;      // kMessage, with 64 bytes of padding behind `value_size`
    size_t value_size = 0;
    std::string key;
    RawMessage message;  // kMessage: its views point into `value` and `key`
  };

  struct Partition {
    std::deque<Item> items;  // a deque: a reader keeps references while the feeder appends
    int64_t rows = 0;
  };

  struct Waker {
    int task = 0;
    int parallelism = 1;
    std::function<void()> wake;
  };

  SchemaPtr schema;
  mutable std::mutex mutex;
  std::vector<Partition> partitions;
  uint64_t next_sequence = 0;
  bool ended = false;
  std::map<const void*, Waker> wakers;  // by source object; a restored job registers new ones

  // The wake functions of the tasks that read `partition` (-1: of all).  Called with the mutex held; the caller runs
  // them after releasing it, because a task may be polling right now.
  std::vector<std::function<void()>> WakersOf(int partition) const;
};

}  // namespace weir
