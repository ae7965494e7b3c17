// The loop over messages that all formats share: rows, row kinds, positions, tombstones, bad records.
//
// RowReader has  bool Read(std::string_view value, BatchBuilder& out),  RowKind kind()  and  error().
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connectors/format/message_columns.h"

namespace weir {

template <class RowReader>
class MessageDecoder final : public Decoder {
 public:
  MessageDecoder(SchemaPtr schema, RowReader reader, MetadataColumns metadata, std::optional<TombstoneKeys> tombstones)
      : schema_(std::move(schema)),
        reader_(std::move(reader)),
        metadata_(std::move(metadata)),
        tombstones_(std::move(tombstones)) {}

  const SchemaPtr& schema() const override { return schema_; }

  size_t Decode(std::span<const RawMessage> messages, BatchBuilder& out, std::vector<RowPosition>& positions,
                std::vector<DecodeError>& errors) override {
    size_t tombstones = 0;
    if (out.empty()) {
      // A new batch: its columns would otherwise grow step by step, and be copied each time.
      for (size_t i = 0; i < schema_->size(); ++i) out.column(i).Reserve(messages.size());
      positions.reserve(positions.size() + messages.size());
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      const RawMessage& message = messages[i];
      tombstones += message.tombstone ? 1 : 0;
      if (message.tombstone && !tombstones_) continue;
      RowKind kind = RowKind::kInsert;
      if (!DecodeOne(message, out, kind)) {
        TruncateColumns(out);
        errors.push_back({i, std::move(error_)});
        continue;
      }
      out.FinishRow(kind);
      positions.push_back({message.partition, message.offset});
    }
    return tombstones;
  }

 private:
  bool DecodeOne(const RawMessage& message, BatchBuilder& out, RowKind& kind) {
    if (message.tombstone) {
      kind = RowKind::kDelete;
      return tombstones_->Append(message, metadata_, out, error_);
    }
    if (!reader_.Read(message.value, out)) {
      error_ = reader_.error();
      return false;
    }
    kind = reader_.kind();
    return metadata_.empty() || metadata_.Append(message, out, error_);
  }

  const SchemaPtr schema_;
  RowReader reader_;
  const MetadataColumns metadata_;
  std::optional<TombstoneKeys> tombstones_;  // none: tombstones are dropped
  std::string error_;
};

}  // namespace weir
