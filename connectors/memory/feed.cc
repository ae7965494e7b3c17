#include "connectors/memory/feed.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kPadding = 64;  // what RawMessage promises to the decoder

void CallAll(const std::vector<std::function<void()>>& functions) {
  for (const auto& function : functions) function();
}

}  // namespace

std::vector<std::function<void()>> MemoryFeed::State::WakersOf(int partition) const {
  std::vector<std::function<void()>> out;
  for (const auto& [source, waker] : wakers) {
    if (waker.wake && (partition < 0 || partition % waker.parallelism == waker.task)) out.push_back(waker.wake);
  }
  return out;
}

MemoryFeed::MemoryFeed(Schema schema, int partitions) : state_(std::make_shared<State>()) {
  WEIR_CHECK_LE(1, partitions);
  state_->schema = std::make_shared<const Schema>(std::move(schema));
  state_->partitions.resize(static_cast<size_t>(partitions));
}

MemoryFeed::~MemoryFeed() = default;

const Schema& MemoryFeed::schema() const { return *state_->schema; }
int MemoryFeed::partitions() const { return static_cast<int>(state_->partitions.size()); }

void MemoryFeed::Push(Batch rows, int partition) {
  WEIR_CHECK_LT(partition, partitions());
  WEIR_CHECK_EQ(rows.columns().size(), state_->schema->size());
  std::vector<std::function<void()>> wakers;
  {
    std::lock_guard lock(state_->mutex);
    State::Partition& to = state_->partitions[static_cast<size_t>(partition)];
    size_t from = 0;
    while (from < rows.rows()) {
      size_t count = std::min(rows.rows() - from, kBatchRows);
      // The two rows of an update stay in one batch.
      if (from + count < rows.rows() && rows.IsUpdatePair(from + count - 1)) --count;
      State::Item& item = to.items.emplace_back();
      item.sequence = state_->next_sequence++;
      item.first_row = to.rows;
      item.rows = count == rows.rows() ? rows : rows.Slice(from, count);
      to.rows += static_cast<int64_t>(count);
      from += count;
    }
    wakers = state_->WakersOf(partition);
  }
  CallAll(wakers);
}

void MemoryFeed::PushMessage(const RawMessage& message, int partition) {
  WEIR_CHECK_LT(partition, partitions());
  std::vector<std::function<void()>> wakers;
  {
    std::lock_guard lock(state_->mutex);
    State::Partition& to = state_->partitions[static_cast<size_t>(partition)];
    State::Item& item = to.items.emplace_back();
    item.kind = State::ItemKind::kMessage;
    item.sequence = state_->next_sequence++;
    item.first_row = to.rows++;
    item.value.assign(message.value);
    item.value_size = message.value.size();
    item.value.append(kPadding, '\0');
    item.message = message;
    item.message.value = std::string_view(item.value).substr(0, item.value_size);
    if (message.key) {
      item.key.assign(*message.key);
      item.key.append(kPadding, '\0');
      item.message.key = std::string_view(item.key).substr(0, message.key->size());
    }
    wakers = state_->WakersOf(partition);
  }
  CallAll(wakers);
}

void MemoryFeed::MarkIdle(int partition) {
  WEIR_CHECK_LT(partition, partitions());
  std::vector<std::function<void()>> wakers;
  {
    std::lock_guard lock(state_->mutex);
    State::Partition& to = state_->partitions[static_cast<size_t>(partition)];
    State::Item& item = to.items.emplace_back();
    item.kind = State::ItemKind::kIdle;
    item.sequence = state_->next_sequence++;
    item.first_row = to.rows;
    wakers = state_->WakersOf(partition);
  }
  CallAll(wakers);
}

void MemoryFeed::End() {
  std::vector<std::function<void()>> wakers;
  {
    std::lock_guard lock(state_->mutex);
    state_->ended = true;
    wakers = state_->WakersOf(-1);
  }
  CallAll(wakers);
}

}  // namespace weir
