// A source of a random job: makes random changes of a memory feed, and keeps the rows that they leave.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "connectors/memory/memory.h"

namespace weir::testing {

// A row as text, as the memory sink shows it: 7, 'x', NULL.
using Cells = std::vector<std::string>;
using Rows = std::vector<Cells>;

// How the rows of a source come.  The key is id, or (k, id) with `ByK`; then k is never NULL.
enum class Feeding { kAppend, kUpsert, kUpsertByK, kFull, kFullByK, kMessages };

class RandomSource {
 public:
  RandomSource(std::string name, Feeding feeding, std::mt19937_64& random)
      : name_(std::move(name)), feeding_(feeding), random_(random) {}

  const std::string& name() const { return name_; }
  Feeding feeding() const { return feeding_; }

  // As the job file has it.  A delta join refuses `append`: there it is a key that never comes again.
  std::string Declaration(bool delta) const {
    const char* mode = IsFull() ? "full" : feeding_ == Feeding::kAppend && !delta ? "append" : "upsert";
    return "  " + name_ + ": {connector: memory, partitions: " + std::to_string(kPartitions) + ", changelog: " + mode +
           ", primary_key: [" + (IsByK() ? "k, id" : "id") +
           "], columns: {id: bigint, k: bigint, n: bigint, v: string}}\n";
  }

  // About so many changes.  Those of one id are in one partition, so their order is theirs at any parallelism.
  void Push(MemoryFeed& feed, int changes) {
    std::vector<BatchBuilder> batches;  // one made for each: copies would share their columns
    const auto schema = std::make_shared<Schema>(feed.schema());
    for (int p = 0; p < kPartitions; ++p) batches.emplace_back(schema);
    for (int i = 0; i < changes; ++i) Change(feed, batches);
    for (int p = 0; p < kPartitions; ++p) {
      if (batches[static_cast<size_t>(p)].rows() > 0) feed.Push(batches[static_cast<size_t>(p)].Build(), p);
    }
  }

  // id, k, n, v.
  Rows rows() const {
    Rows rows;
    for (const auto& [key, row] : rows_) rows.push_back(Text(row));
    return rows;
  }

 private:
  static constexpr int kPartitions = 2;

  struct Row {
    int64_t id = 0;
    std::optional<int64_t> k;
    int64_t n = 0;
    std::string v;
  };
  using Key = std::pair<int64_t, int64_t>;  // k and id, or 0 and id

  bool IsByK() const { return feeding_ == Feeding::kUpsertByK || feeding_ == Feeding::kFullByK; }
  bool IsFull() const { return feeding_ == Feeding::kFull || feeding_ == Feeding::kFullByK; }
  Key KeyOf(const Row& row) const { return {IsByK() ? *row.k : 0, row.id}; }
  int64_t Below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }

  static Cells Text(const Row& row) {
    return {std::to_string(row.id), row.k ? std::to_string(*row.k) : "NULL", std::to_string(row.n), "'" + row.v + "'"};
  }

  Row NewRow() {
    Row row;
    row.id = feeding_ == Feeding::kAppend ? next_id_++ : Below(kIds);
    if (IsByK() || Below(10) != 0) row.k = Below(kKeys);
    row.n = Below(kKeys);
    // Texts of two lengths, so that memory fills at different speeds.
    row.v = std::string(Below(8) == 0 ? 60 : 1, static_cast<char>('a' + Below(3)));
    return row;
  }

  void Change(MemoryFeed& feed, std::vector<BatchBuilder>& batches) {
    Row row = NewRow();
    const auto found = rows_.find(KeyOf(row));
    if (found == rows_.end()) {
      // A deletion of a key that is not there leaves nothing.  (In a full changelog it would retract some row.)
      if (feeding_ != Feeding::kAppend && !IsFull() && Below(20) == 0)
        return Send(feed, batches, RowKind::kDelete, row);
      Send(feed, batches, RowKind::kInsert, row);
      rows_[KeyOf(row)] = std::move(row);
      return;
    }
    const Row old = found->second;
    if (Below(4) == 0) {
      Send(feed, batches, RowKind::kDelete, old);
      rows_.erase(found);
      return;
    }
    if (IsFull()) {
      Send(feed, batches, RowKind::kUpdateBefore, old);
      Send(feed, batches, RowKind::kUpdateAfter, row);
    } else {
      Send(feed, batches, Below(2) == 0 ? RowKind::kInsert : RowKind::kUpdateAfter, row);
    }
    found->second = std::move(row);
  }

  void Send(MemoryFeed& feed, std::vector<BatchBuilder>& batches, RowKind kind, const Row& row) {
    const int partition = static_cast<int>(row.id % kPartitions);
    if (feeding_ == Feeding::kMessages) return SendMessage(feed, partition, kind, row);
    BatchBuilder& batch = batches[static_cast<size_t>(partition)];
    const bool key_only = kind == RowKind::kDelete && !IsFull();
    batch.column(0).AppendInt(row.id);
    if (row.k && (!key_only || IsByK())) {
      batch.column(1).AppendInt(*row.k);
    } else {
      batch.column(1).AppendNull();
    }
    if (key_only) {
      batch.column(2).AppendNull();
      batch.column(3).AppendNull();
    } else {
      batch.column(2).AppendInt(row.n);
      batch.column(3).AppendText(row.v);
    }
    batch.FinishRow(kind);
  }

  void SendMessage(MemoryFeed& feed, int partition, RowKind kind, const Row& row) {
    const std::string key = "{\"id\": " + std::to_string(row.id) + "}";
    const std::string value = "{\"id\": " + std::to_string(row.id) +
                              ", \"k\": " + (row.k ? std::to_string(*row.k) : "null") +
                              ", \"n\": " + std::to_string(row.n) + ", \"v\": \"" + row.v + "\"}";
    RawMessage message;
    message.key = key;
    message.tombstone = kind == RowKind::kDelete;
    if (!message.tombstone) message.value = value;
    message.partition = static_cast<uint32_t>(partition);
    message.partition_id = partition;
    message.offset = next_offset_++;
    feed.PushMessage(message, partition);
  }

  static constexpr int64_t kIds = 40;
  static constexpr int64_t kKeys = 12;

  const std::string name_;
  const Feeding feeding_;
  std::mt19937_64& random_;
  std::map<Key, Row> rows_;
  int64_t next_id_ = 0;
  int64_t next_offset_ = 0;
};

}  // namespace weir::testing
