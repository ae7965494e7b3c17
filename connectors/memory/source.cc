// The reading side of a MemoryFeed.
//
// 1. Of the partitions of this task, the item that arrived first is next, so one task sees rows in the order in which
//    they were fed whatever their partition.
// 2. Items of one partition that arrived one after the other are handed on as one batch, up to kBatchRows rows; an
//    item alone is passed on without copying its columns.
#include <algorithm>
#include <charconv>
#include <numeric>

#include "connectors/decode/message_rows.h"
#include "connectors/memory/feed.h"
#include "engine/data/hash.h"

namespace weir {
namespace {

class MemorySource final : public Source {
 public:
  MemorySource(MemorySourceOptions options, SchemaPtr schema)
      : options_(std::move(options)), state_(options_.feed->state()), schema_(std::move(schema)) {}
  ~MemorySource() override { Close(); }

  Status Open(const SourceContext& context, const Positions& restored) override;
  Result<SourceState> Poll(SourceOutput& out) override;
  Positions CurrentPositions() const override;
  std::vector<std::string> Partitions() const override;
  std::string Describe(const RowPosition& position) const override;
  void Close() override;

 private:
  using Item = MemoryFeed::State::Item;
  using ItemKind = MemoryFeed::State::ItemKind;

  struct Cursor {
    int partition = 0;
    size_t consumed = 0;
  };

  // The next items, all of one kind and partition; empty when there is none.  `cursor` is moved past them.
  std::vector<const Item*> TakeItems(size_t& cursor, bool& ended);
  const Item* Head(const Cursor& cursor) const;
  Status EmitRows(std::span<const Item* const> items, uint32_t partition, SourceOutput& out);
  Status EmitMessages(std::span<const Item* const> items, uint32_t partition, SourceOutput& out);
  Batch Project(const Batch& batch) const;
  // Drops rows whose primary key has a NULL, as the decoder does with messages.
  Result<Batch> DropNullKeys(Batch batch, uint32_t partition, int64_t first_row);

  const MemorySourceOptions options_;
  const std::shared_ptr<MemoryFeed::State> state_;
  const SchemaPtr schema_;
  SourceContext context_;
  std::vector<Cursor> cursors_;
  std::unique_ptr<MessageRows> message_rows_;
  bool open_ = false;
};

Status MemorySource::Open(const SourceContext& context, const Positions& restored) {
  context_ = context;
  cursors_.clear();
  const int partitions = options_.feed->partitions();
  for (int partition = context.task; partition < partitions; partition += context.parallelism) {
    Cursor cursor{partition, 0};
    if (const auto at = restored.find(std::to_string(partition)); at != restored.end()) {
      const std::string& text = at->second;
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), cursor.consumed);
      if (fault != std::errc() || end != text.data() + text.size()) {
        return StateError("'" + text + "' is not a position of a memory source", options_.name);
      }
    }
    cursors_.push_back(cursor);
  }
  if (options_.decoder) {
    WEIR_ASSIGN(message_rows_, MessageRows::Make(*options_.decoder, options_.on_error,
                                                 [this](const RowPosition& position) { return Describe(position); }));
    message_rows_->set_metrics(context.metrics);
  }
  std::lock_guard lock(state_->mutex);
  state_->wakers[this] = {context.task, context.parallelism, context.wake};
  open_ = true;
  return {};
}

const MemorySource::Item* MemorySource::Head(const Cursor& cursor) const {
  const auto& items = state_->partitions[static_cast<size_t>(cursor.partition)].items;
  return cursor.consumed < items.size() ? &items[cursor.consumed] : nullptr;
}

std::vector<const MemorySource::Item*> MemorySource::TakeItems(size_t& cursor, bool& ended) {
  std::lock_guard lock(state_->mutex);
  std::vector<const Item*> taken;
  ended = state_->ended;
  const Item* first = nullptr;
  uint64_t second = UINT64_MAX;  // sequence of the earliest item of another partition
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const Item* head = Head(cursors_[i]);
    if (head == nullptr) continue;
    if (first == nullptr || head->sequence < first->sequence) {
      if (first != nullptr) second = std::min(second, first->sequence);
      first = head;
      cursor = i;
    } else {
      second = std::min(second, head->sequence);
    }
  }
  size_t rows = 0;
  for (const Item* item = first; item != nullptr; item = Head(cursors_[cursor])) {
    rows += item->kind == ItemKind::kRows ? item->rows.rows() : 1;
    const bool fits = item->kind == first->kind && item->sequence < second && rows <= kBatchRows;
    if (!taken.empty() && !fits) break;
    taken.push_back(item);
    ++cursors_[cursor].consumed;
    // The runtime learns of an idle partition in order with the rows around it: a mark is a poll of its own.
    if (item->kind == ItemKind::kIdle) break;
  }
  return taken;
}

Result<SourceState> MemorySource::Poll(SourceOutput& out) {
  size_t cursor = 0;
  bool ended = false;
  const std::vector<const Item*> items = TakeItems(cursor, ended);
  if (items.empty()) return ended ? SourceState::kEnded : SourceState::kWaiting;
  switch (items.front()->kind) {
    case ItemKind::kIdle:
      out.MarkIdle(cursor);
      break;
    case ItemKind::kRows:
      WEIR_TRY(EmitRows(items, static_cast<uint32_t>(cursor), out));
      break;
    case ItemKind::kMessage:
      WEIR_TRY(EmitMessages(items, static_cast<uint32_t>(cursor), out));
      break;
  }
  return SourceState::kRunning;
}

Batch MemorySource::Project(const Batch& batch) const {
  std::vector<ColumnPtr> columns;
  columns.reserve(options_.read.size());
  for (const int column : options_.read) columns.push_back(batch.columns()[static_cast<size_t>(column)]);
  return batch.WithColumns(schema_, std::move(columns));
}

Result<Batch> MemorySource::DropNullKeys(Batch batch, uint32_t partition, int64_t first_row) {
  if (!options_.decoder || options_.decoder->primary_key.empty()) return batch;
  const std::vector<uint8_t> bad = NullKeys(batch, options_.decoder->primary_key);
  if (std::find(bad.begin(), bad.end(), uint8_t{1}) == bad.end()) return batch;
  Selection good;
  for (uint32_t row = 0; row < batch.rows(); ++row) {
    if (bad[row] == 0) {
      good.push_back(row);
      continue;
    }
    if (context_.metrics != nullptr) context_.metrics->bad_records.fetch_add(1, std::memory_order_relaxed);
    if (!options_.on_error.skip) {
      return DataError("a column of the primary key is NULL", Describe({partition, first_row + row}));
    }
  }
  return batch.Gather(good);
}

Status MemorySource::EmitRows(std::span<const Item* const> items, uint32_t partition, SourceOutput& out) {
  std::vector<Batch> batches;
  batches.reserve(items.size());
  int64_t rows_in = 0;
  for (const Item* item : items) {
    const size_t rows = item->rows.rows();
    rows_in += static_cast<int64_t>(rows);
    auto positions = std::make_shared<std::vector<RowPosition>>(rows);
    for (size_t row = 0; row < rows; ++row) {
      (*positions)[row] = {partition, item->first_row + static_cast<int64_t>(row)};
    }
    Batch batch = item->rows;
    batch.set_positions(std::move(positions));
    WEIR_ASSIGN(batch, DropNullKeys(std::move(batch), partition, item->first_row));
    batches.push_back(Project(batch));
  }
  if (context_.metrics != nullptr) context_.metrics->records_in.fetch_add(rows_in, std::memory_order_relaxed);
  if (batches.size() == 1) {
    if (batches.front().rows() > 0) out.Emit(std::move(batches.front()));
    return {};
  }
  BatchBuilder builder(schema_);
  auto positions = std::make_shared<std::vector<RowPosition>>();
  Selection all;
  for (const Batch& batch : batches) {
    all.resize(batch.rows());
    std::iota(all.begin(), all.end(), 0U);
    builder.AppendSelected(batch, all);
    positions->insert(positions->end(), batch.positions()->begin(), batch.positions()->end());
  }
  if (builder.empty()) return {};
  Batch merged = builder.Build();
  merged.set_positions(std::move(positions));
  out.Emit(std::move(merged));
  return {};
}

Status MemorySource::EmitMessages(std::span<const Item* const> items, uint32_t partition, SourceOutput& out) {
  if (!message_rows_) return DataError("a raw message was fed, but the source has no format", options_.name);
  std::vector<RawMessage> messages;
  messages.reserve(items.size());
  int64_t bytes = 0;
  for (const Item* item : items) {
    messages.push_back(item->message);
    messages.back().partition = partition;
    bytes += static_cast<int64_t>(item->value_size);
  }
  if (context_.metrics != nullptr) context_.metrics->input_bytes.fetch_add(bytes, std::memory_order_relaxed);
  WEIR_TRY(message_rows_->Add(messages));
  if (message_rows_->rows() > 0) out.Emit(message_rows_->Take());
  return {};
}

Positions MemorySource::CurrentPositions() const {
  Positions out;
  for (const Cursor& cursor : cursors_) out[std::to_string(cursor.partition)] = std::to_string(cursor.consumed);
  return out;
}

std::vector<std::string> MemorySource::Partitions() const {
  std::vector<std::string> out;
  out.reserve(cursors_.size());
  for (const Cursor& cursor : cursors_) out.push_back(std::to_string(cursor.partition));
  return out;
}

std::string MemorySource::Describe(const RowPosition& position) const {
  return options_.name + "/" + std::to_string(cursors_[position.partition].partition) + "/" +
         std::to_string(position.offset);
}

void MemorySource::Close() {
  if (!open_) return;
  open_ = false;
  std::lock_guard lock(state_->mutex);
  state_->wakers.erase(this);
}

}  // namespace

Result<std::unique_ptr<Source>> MakeMemorySource(const MemorySourceOptions& options) {
  if (!options.feed) return ConfigError("a memory source needs a feed", options.name);
  std::vector<Field> fields;
  for (const int column : options.read) {
    if (column < 0 || static_cast<size_t>(column) >= options.feed->schema().size()) {
      return ConfigError("there is no column " + std::to_string(column), options.name);
    }
    fields.push_back(options.feed->schema()[static_cast<size_t>(column)]);
  }
  return std::make_unique<MemorySource>(options, std::make_shared<const Schema>(std::move(fields)));
}

}  // namespace weir
