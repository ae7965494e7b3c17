// One JSON object to one row: the declared fields go to their columns, everything else is validated and left out.
//
// Rules: any order of keys; the last of equal keys counts, whatever was wrong with the earlier one; a parent that is no
// object makes the fields below it missing; a missing field has its default or is NULL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connectors/format/json_cursor.h"
#include "connectors/format/key_tree.h"
#include "connectors/format/value_reader.h"
#include "engine/data/batch.h"

namespace weir {

// A field that the reader looks for.
struct JsonField {
  std::string name;  // of the column, for messages
  std::vector<std::string> path;
  ValueReader reader;
  int output = -1;          // column of the builder; -1: only looked at
  bool not_null = false;    // of the primary key: NULL makes the record bad
  ColumnPtr default_value;  // one row; null: none
};

// Used by one thread.
class JsonRowReader {
 public:
  // With `has_row_kind` the key "op" gives the row's kind.
  JsonRowReader(std::vector<JsonField> fields, bool has_row_kind);

  // Appends one value to the output column of every field.  False: error() says why, the caller truncates the columns.
  bool Read(std::string_view text, BatchBuilder& out);
  RowKind kind() const { return kind_; }  // of the row read last
  const std::string& error() const { return cursor_.error(); }
  // The field stood in the object read last.
  bool Found(size_t field) const { return leaves_[field].row == row_; }

 private:
  // A field and what the current row has for it.
  struct Leaf {
    explicit Leaf(JsonField declared) : field(std::move(declared)) {}

    JsonField field;
    std::unique_ptr<ValueReader> element_reader;  // arrays only
    std::unique_ptr<Column> elements;
    uint64_t row = 0;  // the last row in which it was found
    bool is_null = false;
    ParseFault fault = ParseFault::kNone;
    std::string fault_text;  // names the column and the value

    void Check(ParseFault kind, std::string_view value, bool is_text, const DataType& type) {
      fault = kind;
      if (kind != ParseFault::kNone) [[unlikely]]
        fault_text = DescribeFault(field.name, value, is_text, type, kind);
    }
    void Check(ParseFault kind, std::string_view value, bool is_text) {
      Check(kind, value, is_text, field.reader.type());
    }
    void CheckElement(ParseFault kind, std::string_view value, bool is_text) {
      Check(kind, value, is_text, element_reader->type());
    }
  };

  static void FindOnlyLeaves(KeyNode& node);
  bool ReadObject(KeyNode& node, int depth);
  bool ReadKey(JsonKey& key, int depth);
  bool ReadLeaf(Leaf& leaf);
  bool ReadNull(Leaf& leaf);
  bool ReadBoolean(Leaf& leaf);
  bool ReadText(Leaf& leaf);
  bool ReadNumber(Leaf& leaf);
  bool ReadContainer(Leaf& leaf);
  bool ReadArray(Leaf& leaf);
  bool ReadElement(Leaf& leaf);
  bool TakeText(std::string_view& text);
  bool ReadRowKind();
  bool FinishRow();
  void Forget(JsonKey& key);
  Column& ColumnOf(const Leaf& leaf) { return out_->column(static_cast<size_t>(leaf.field.output)); }

  JsonCursor cursor_;
  std::vector<Leaf> leaves_;
  KeyNode root_;
  BatchBuilder* out_ = nullptr;
  uint64_t row_ = 0;  // counts the rows read
  RowKind kind_ = RowKind::kInsert;
  std::string kind_fault_;
  std::string text_;   // an unescaped text
  std::string array_;  // an array's bytes
};

}  // namespace weir
