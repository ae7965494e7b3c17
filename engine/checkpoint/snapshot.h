// What a task hands to the coordinator at a barrier.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/source.h"

namespace weir {

struct TablePositionRef {
  std::string table;
  int bucket = 0;
  LogPosition end;
};

// The state of one operator in one task, as its Snapshot call described it.
struct OperatorSnapshot {
  std::string operator_id;
  int task = 0;
  int parallelism = 1;
  std::string state;                                       // ready at once, or
  std::function<Status(SnapshotWriter::File&)> write;      // written on the I/O pool
  std::vector<std::function<Status()>> finish;             // other work before the manifest
  std::string commit_data;
  Operator* target = nullptr;                              // for OnCommit
  std::vector<TablePositionRef> tables;
  std::map<std::string, int64_t> counters;
};

struct TaskSnapshot {
  std::vector<OperatorSnapshot> operators;
  std::string source;  // name; empty for a task without one
  Source* source_task = nullptr;
  Positions positions;
  std::map<std::string, Micros> watermarks;
  std::vector<std::string> idle;
  std::map<std::string, int64_t> counters;
  Micros barrier_time = 0;   // monotonic: when the first barrier arrived
  Micros alignment = 0;      // until the last one
  Micros sync = 0;           // in Snapshot and OnBarrier calls
};

// Collects what one operator's Snapshot call says.
class SnapshotCollector final : public SnapshotWriter {
 public:
  SnapshotCollector(Epoch epoch, OperatorSnapshot& out) : epoch_(epoch), out_(out) {}
  Epoch epoch() const override { return epoch_; }
  void Put(std::string bytes) override { out_.state += bytes; }
  void WriteLater(std::function<Status(File&)> write) override { out_.write = std::move(write); }
  void FinishLater(std::function<Status()> work) override { out_.finish.push_back(std::move(work)); }
  void PutCommitData(std::string bytes) override { out_.commit_data = std::move(bytes); }
  void PutTablePosition(const std::string& table, int bucket, const LogPosition& end) override {
    out_.tables.push_back({table, bucket, end});
  }
  void PutCounter(const std::string& name, int64_t since_start) override { out_.counters[name] += since_start; }

 private:
  const Epoch epoch_;
  OperatorSnapshot& out_;
};

}  // namespace weir
