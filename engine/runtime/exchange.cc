#include "engine/runtime/exchange.h"

#include "engine/data/bucket.h"
#include "engine/data/hash.h"

namespace weir {

void Router::AddEdge(const EdgeSpec& spec, std::vector<std::shared_ptr<Channel>> targets) {
  Edge edge{spec, std::move(targets), {}};
  edge.builders.resize(edge.targets.size());
  edges_.push_back(std::move(edge));
}

bool Router::HasRoomOrWait() {
  for (const Edge& edge : edges_) {
    for (const auto& channel : edge.targets) {
      if (!channel->HasRoomOrWait()) return false;
    }
  }
  return true;
}

void Router::Send(const Batch& batch) {
  if (batch.rows() == 0) return;
  for (Edge& edge : edges_) {
    if (edge.spec.late_of.empty()) SendTo(edge, batch);
  }
}

void Router::SendLate(const std::string& operator_id, const Batch& batch) {
  if (batch.rows() == 0) return;
  for (Edge& edge : edges_) {
    if (edge.spec.late_of == operator_id) SendTo(edge, batch);
  }
}

void Router::SendTo(Edge& edge, const Batch& batch) {
  if (edge.targets.size() > 1) return Split(edge, batch);
  Message message;
  message.batch = batch;
  edge.targets[0]->Send(std::move(message));
}

void Router::ChooseTasks(const Edge& edge, const Batch& batch) {
  const int tasks = static_cast<int>(edge.targets.size());
  const auto take = [this](int task, size_t row) {
    tasks_[row] = static_cast<uint16_t>(task);
    selections_[static_cast<size_t>(task)].push_back(static_cast<uint32_t>(row));
  };
  tasks_.resize(batch.rows());
  if (edge.spec.exchange == Exchange::kBucket) {
    BucketRows(batch, edge.spec.key_columns, edge.spec.buckets, buckets_);
    for (size_t row = 0; row < batch.rows(); ++row) take(TaskOfBucket(buckets_[row], tasks), row);
    return;
  }
  HashRows(batch, edge.spec.key_columns, hashes_);
  for (size_t row = 0; row < batch.rows(); ++row) take(TaskOf(KeyGroupOf(hashes_[row]), tasks), row);
}

Batch Router::WithoutTornPairs(const Batch& batch) const {
  std::vector<RowKind> kinds;
  for (size_t row = 0; row + 1 < batch.rows(); ++row) {
    if (tasks_[row] == tasks_[row + 1] || !batch.IsUpdatePair(row)) continue;
    if (kinds.empty()) kinds.assign(batch.kinds().begin(), batch.kinds().end());
    kinds[row] = RowKind::kDelete;
    kinds[row + 1] = RowKind::kInsert;
  }
  if (kinds.empty()) return batch;
  return Batch(batch.schema(), batch.columns(), batch.rows(), std::move(kinds));
}

void Router::Split(Edge& edge, const Batch& whole) {
  const size_t tasks = edge.targets.size();
  selections_.resize(tasks);
  for (Selection& selection : selections_) {
    selection.clear();
    selection.reserve(whole.rows());
  }
  ChooseTasks(edge, whole);
  const Batch batch = whole.insert_only() ? whole : WithoutTornPairs(whole);
  for (size_t target = 0; target < tasks; ++target) {
    const Selection& selection = selections_[target];
    if (selection.empty()) continue;
    auto& builder = edge.builders[target];
    if (!builder) builder = std::make_unique<BatchBuilder>(batch.schema());
    builder->AppendSelected(batch, selection);
    if (builder->rows() >= kBatchRows) SendBuilt(edge, target);
  }
}

void Router::SendBuilt(Edge& edge, size_t target) {
  Message message;
  message.batch = edge.builders[target]->Build();
  edge.targets[target]->Send(std::move(message));
}

void Router::Flush() {
  for (Edge& edge : edges_) {
    for (size_t target = 0; target < edge.targets.size(); ++target) {
      if (edge.builders[target] && !edge.builders[target]->empty()) SendBuilt(edge, target);
    }
  }
}

void Router::Broadcast(const Message& message) {
  Flush();
  for (const Edge& edge : edges_) {
    for (const auto& channel : edge.targets) channel->Send(message);
  }
}

}  // namespace weir
