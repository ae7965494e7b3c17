// What a row takes from its message and not from the message's value: metadata columns, and the row of a tombstone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/format/format.h"
#include "connectors/format/json_row_reader.h"
#include "connectors/format/value_reader.h"

namespace weir {

// A declared column as a reader needs it.
struct DeclaredColumn {
  const SourceColumn* column;
  int output;  // place in DecoderOptions::read; -1: not read, but of the primary key
  bool key;    // of the primary key
};
// The columns that are read or of the primary key, in declared order.
std::vector<DeclaredColumn> ColumnsToDecode(const DecoderOptions& options);

// Columns with metadata.  Used by one thread.
class MetadataColumns {
 public:
  static Result<MetadataColumns> Make(const DecoderOptions& options, const ReadRules& rules);

  bool empty() const { return columns_.empty(); }
  // Appends one value a column.  False: `error` says why, the caller truncates the columns.
  bool Append(const RawMessage& message, BatchBuilder& out, std::string& error) const;
  // The same for the columns of the primary key only.
  bool AppendKey(const RawMessage& message, BatchBuilder& out, std::string& error) const;

 private:
  struct Column {
    std::string name;
    Metadata metadata;
    ValueReader reader;
    int output;
    bool key;
  };
  bool AppendValue(const Column& column, const RawMessage& message, BatchBuilder& out, std::string& error) const;

  std::vector<Column> columns_;
};

// The -D of a tombstone: the columns of the primary key from the message's key, the others NULL.
//
// The key is a JSON object of the primary key columns by their names, or, for a single column, its plain text.
class TombstoneKeys {
 public:
  TombstoneKeys(const DecoderOptions& options, const ReadRules& rules);

  bool Append(const RawMessage& message, const MetadataColumns& metadata, BatchBuilder& out, std::string& error);

 private:
  bool AppendFromKey(std::string_view key, BatchBuilder& out, std::string& error);

  std::optional<JsonRowReader> object_;  // none when the whole primary key is metadata
  std::optional<ValueReader> plain_;     // of a single primary key column
  std::string plain_name_;
  int plain_output_ = -1;
  std::vector<int> others_;  // outputs that are NULL
  std::string padded_key_;
};

// Takes rows of the columns away again: those of a message that could not be decoded.
void TruncateColumns(BatchBuilder& out);

// Text as a string column takes it: UTF-8 without U+0000.
bool IsText(std::string_view bytes);

}  // namespace weir
