// Decoders in tests: columns from text, messages from text, rows as text.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "connectors/format/format.h"

namespace weir::testing {

// A column "name: type"; `path` as the job file writes it.
inline SourceColumn Declare(const std::string& name, std::string_view type, std::string_view path = {}) {
  SourceColumn column;
  column.name = name;
  const auto parsed = ParseType(type);
  EXPECT_TRUE(parsed) << type;
  if (parsed) column.type = *parsed;
  column.path = {name};
  if (!path.empty()) column.path = ParsePath(path).value();
  return column;
}

inline SourceColumn MetadataColumn(const std::string& name, std::string_view type, Metadata metadata) {
  SourceColumn column = Declare(name, type);
  column.metadata = metadata;
  return column;
}

// Reads every column in declared order.
inline DecoderOptions Options(std::vector<SourceColumn> columns, FormatKind format = FormatKind::kJson) {
  DecoderOptions options;
  options.format = format;
  options.columns = std::move(columns);
  for (size_t i = 0; i < options.columns.size(); ++i) options.read.push_back(static_cast<int>(i));
  return options;
}

// Messages with the padding that a decoder expects behind them.
class Messages {
 public:
  RawMessage& Add(std::string_view value) {
    texts_.emplace_back(value);
    texts_.back().append(64, '\0');
    RawMessage message;
    message.value = std::string_view(texts_.back()).substr(0, value.size());
    message.offset = static_cast<int64_t>(messages_.size());
    messages_.push_back(message);
    return messages_.back();
  }
  RawMessage& AddTombstone(std::optional<std::string_view> key) {
    RawMessage& message = Add("");
    message.tombstone = true;
    message.key = key;
    return message;
  }
  std::span<const RawMessage> all() const { return messages_; }

 private:
  std::deque<std::string> texts_;
  std::vector<RawMessage> messages_;
};

struct Decoded {
  std::string rows;  // Batch::ToString
  std::vector<std::string> errors;
  size_t tombstones = 0;
  std::vector<int64_t> offsets;
};

inline Decoded Decode(const DecoderOptions& options, const Messages& messages) {
  auto decoder = MakeDecoder(options);
  if (!decoder) return {"", {decoder.error().message}, 0, {}};
  BatchBuilder builder((*decoder)->schema());
  std::vector<RowPosition> positions;
  std::vector<DecodeError> errors;
  Decoded out;
  out.tombstones = (*decoder)->Decode(messages.all(), builder, positions, errors);
  EXPECT_EQ(positions.size(), builder.rows());
  for (const RowPosition& position : positions) out.offsets.push_back(position.offset);
  for (const DecodeError& error : errors) out.errors.push_back(error.text);
  out.rows = builder.Build().ToString();
  return out;
}

inline Decoded Decode(const DecoderOptions& options, const std::vector<std::string>& values) {
  Messages messages;
  for (const std::string& value : values) messages.Add(value);
  return Decode(options, messages);
}

}  // namespace weir::testing
