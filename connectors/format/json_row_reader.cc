#include "connectors/format/json_row_reader.h"

#include <fmt/format.h>

#include "engine/data/array_codec.h"

namespace weir {
namespace {

constexpr int kMaxDepth = 64;  // of declared paths; what nobody reads may be deeper

// A number of at most 18 digits without an exponent: nearly every number of a stream, checked and read in one pass.
struct ShortNumber {
  int64_t unscaled = 0;
  int fraction_digits = 0;
};
bool ReadShortNumber(std::string_view token, ShortNumber& number) {
  const char* at = token.data();
  const char* end = at + token.size();
  const bool negative = *at == '-';
  at += negative;
  if (end - at > 19 || at == end || (*at == '0' && end - at > 1 && at[1] != '.')) return false;
  const char* point = nullptr;
  uint64_t value = 0;  // a 19th digit is looked at before the number is refused
  const char* first = at;
  for (; at != end; ++at) {
    const auto digit = static_cast<uint8_t>(*at - '0');
    if (digit <= 9) {
      value = value * 10 + digit;
    } else if (*at == '.' && point == nullptr && at != first) {
      point = at;
    } else {
      return false;
    }
  }
  if (point == nullptr ? end - first > 18 : point + 1 == end) return false;
  const auto size = static_cast<int64_t>(value);
  number.unscaled = negative ? -size : size;
  number.fraction_digits = point == nullptr ? 0 : static_cast<int>(end - point - 1);
  return true;
}

}  // namespace

JsonRowReader::JsonRowReader(std::vector<JsonField> fields, bool has_row_kind) {
  if (has_row_kind) root_.Add("op").is_row_kind = true;
  leaves_.reserve(fields.size());
  for (JsonField& field : fields) {
    AddPath(root_, field.path).leaves.push_back(static_cast<int>(leaves_.size()));
    Leaf leaf(std::move(field));
    if (leaf.field.reader.is_array()) {
      leaf.element_reader = std::make_unique<ValueReader>(leaf.field.reader.ForElement());
      leaf.elements = std::make_unique<Column>(leaf.element_reader->type());
    }
    leaves_.push_back(std::move(leaf));
  }
  FindOnlyLeaves(root_);
}

void JsonRowReader::FindOnlyLeaves(KeyNode& node) {
  for (const auto& key : node.keys) {
    if (key->children != nullptr) FindOnlyLeaves(*key->children);
    if (key->leaves.size() == 1 && key->children == nullptr && !key->is_row_kind) key->only_leaf = key->leaves[0];
  }
}

bool JsonRowReader::Read(std::string_view text, BatchBuilder& out) {
  out_ = &out;
  ++row_;
  kind_ = RowKind::kInsert;
  kind_fault_.clear();
  if (!cursor_.Open(text)) return false;
  if (cursor_.Peek() != '{') return cursor_.Fail("not a JSON object");
  if (!ReadObject(root_, 0)) return false;
  if (!cursor_.done()) return cursor_.Unexpected("the end of the document");
  return FinishRow();
}

bool JsonRowReader::ReadObject(KeyNode& node, int depth) {
  if (depth > kMaxDepth) return cursor_.Fail("nested too deeply");
  cursor_.Advance();
  if (cursor_.Peek() == '}') {
    cursor_.Advance();
    return true;
  }
  for (size_t place = 0;; ++place) {
    if (cursor_.Peek() != '"') return cursor_.Unexpected("a key");
    JsonKey* key = nullptr;
    if (!node.Match(cursor_, place, key) || !cursor_.Expect(':', "a colon")) return false;
    if (key == nullptr ? !cursor_.Skip() : !ReadKey(*key, depth)) return false;
    const char c = cursor_.Peek();
    if (c != ',' && c != '}') return cursor_.Unexpected("a comma or the end of the object");
    cursor_.Advance();
    if (c == '}') return true;
  }
}

bool JsonRowReader::ReadKey(JsonKey& key, int depth) {
  if (key.only_leaf >= 0 && key.row != row_) {
    key.row = row_;
    return ReadLeaf(leaves_[static_cast<size_t>(key.only_leaf)]);
  }
  if (key.row == row_) Forget(key);
  key.row = row_;
  const uint32_t value = cursor_.Mark();
  const bool is_object = cursor_.Peek() == '{';
  bool taken = false;
  for (const int leaf : key.leaves) {
    if (taken) cursor_.Rewind(value);
    if (!ReadLeaf(leaves_[static_cast<size_t>(leaf)])) return false;
    taken = true;
  }
  if (key.is_row_kind) {
    if (taken) cursor_.Rewind(value);
    if (!ReadRowKind()) return false;
    taken = true;
  }
  if (key.children != nullptr && is_object) {
    if (taken) cursor_.Rewind(value);
    return ReadObject(*key.children, depth + 1);
  }
  return taken || cursor_.Skip();
}

// The key comes again: what its first value gave is undone.
void JsonRowReader::Forget(JsonKey& key) {
  key.row = 0;
  for (const int index : key.leaves) {
    Leaf& leaf = leaves_[static_cast<size_t>(index)];
    if (leaf.row != row_) continue;
    leaf.row = 0;
    leaf.fault = ParseFault::kNone;
    if (leaf.field.output >= 0) ColumnOf(leaf).Truncate(out_->rows());
  }
  if (key.is_row_kind) {
    kind_ = RowKind::kInsert;
    kind_fault_.clear();
  }
  if (key.children == nullptr) return;
  for (const auto& child : key.children->keys) Forget(*child);
}

bool JsonRowReader::ReadLeaf(Leaf& leaf) {
  leaf.row = row_;
  leaf.is_null = false;
  leaf.fault = ParseFault::kNone;
  const char c = cursor_.Peek();
  if (leaf.field.output < 0) return c == 'n' ? ReadNull(leaf) : cursor_.Skip();
  switch (c) {
    case '"':
      return ReadText(leaf);
    case '{':
    case '[':
      return ReadContainer(leaf);
    case 't':
    case 'f':
      return ReadBoolean(leaf);
    case 'n':
      return ReadNull(leaf);
    default:
      return ReadNumber(leaf);
  }
}

bool JsonRowReader::ReadNull(Leaf& leaf) {
  if (!cursor_.TakeWord("null")) return cursor_.Unexpected("a value");
  leaf.is_null = true;
  if (leaf.field.output >= 0) ColumnOf(leaf).AppendNull();
  return true;
}

bool JsonRowReader::ReadBoolean(Leaf& leaf) {
  const bool value = cursor_.Peek() == 't';
  if (!cursor_.TakeWord(value ? "true" : "false")) return cursor_.Unexpected("a value");
  leaf.Check(leaf.field.reader.ReadBoolean(value, ColumnOf(leaf)), value ? "true" : "false", false);
  return true;
}

bool JsonRowReader::TakeText(std::string_view& text) {
  text = cursor_.TakeString();
  if (!cursor_.HasEscapes(text)) return true;
  text_.clear();
  if (const char* fault = UnescapeJson(text, text_); fault != nullptr) return cursor_.Fail(fault);
  text = text_;
  return true;
}

bool JsonRowReader::ReadText(Leaf& leaf) {
  std::string_view text;
  if (!TakeText(text)) return false;
  if (leaf.field.reader.is_string()) {
    ColumnOf(leaf).AppendText(text);
  } else {
    leaf.Check(leaf.field.reader.ReadText(text, ColumnOf(leaf)), text, true);
  }
  return true;
}

bool JsonRowReader::ReadNumber(Leaf& leaf) {
  if (cursor_.done()) return cursor_.Unexpected("a value");
  const uint32_t mark = cursor_.Mark();
  const std::string_view token = cursor_.TakeToken();
  ShortNumber number;
  if (ReadShortNumber(token, number)) {
    if (leaf.field.reader.ReadShort(number.unscaled, number.fraction_digits, ColumnOf(leaf))) return true;
    leaf.Check(leaf.field.reader.ReadNumber(token, ColumnOf(leaf)), token, false);
    return true;
  }
  if (!IsJsonNumber(token)) {
    cursor_.Rewind(mark);
    return cursor_.Unexpected("a value");
  }
  leaf.Check(leaf.field.reader.ReadNumber(token, ColumnOf(leaf)), token, false);
  return true;
}

bool JsonRowReader::ReadContainer(Leaf& leaf) {
  if (leaf.element_reader != nullptr && cursor_.Peek() == '[') return ReadArray(leaf);
  std::string_view raw;
  if (!cursor_.Skip(raw)) return false;
  if (leaf.field.reader.takes_raw()) {
    ColumnOf(leaf).AppendText(raw);
  } else {
    leaf.Check(ParseFault::kSyntax, raw, false);
  }
  return true;
}

bool JsonRowReader::ReadArray(Leaf& leaf) {
  leaf.elements->Truncate(0);
  leaf.elements->mutable_arena().clear();
  cursor_.Advance();
  char c = cursor_.Peek();
  if (c == ']') cursor_.Advance();
  while (c != ']') {
    if (!ReadElement(leaf)) return false;
    c = cursor_.Peek();
    if (c != ',' && c != ']') return cursor_.Unexpected("a comma or the end of the array");
    cursor_.Advance();
  }
  if (leaf.fault != ParseFault::kNone) return true;
  array_.clear();
  AppendArray(*leaf.elements, 0, leaf.elements->size(), array_);
  ColumnOf(leaf).AppendText(array_);
  return true;
}

// After the first element that cannot be read the others are only validated.
bool JsonRowReader::ReadElement(Leaf& leaf) {
  const char c = cursor_.Peek();
  std::string_view raw;
  if (leaf.fault != ParseFault::kNone) return cursor_.Skip();
  if (c == '"') {
    if (!TakeText(raw)) return false;
    leaf.CheckElement(leaf.element_reader->ReadText(raw, *leaf.elements), raw, true);
    return true;
  }
  if (!cursor_.Skip(raw)) return false;
  if (c == 'n') {
    leaf.elements->AppendNull();
  } else if (c == 't' || c == 'f') {
    leaf.CheckElement(leaf.element_reader->ReadBoolean(c == 't', *leaf.elements), raw, false);
  } else if (c != '{' && c != '[') {
    leaf.CheckElement(leaf.element_reader->ReadNumber(raw, *leaf.elements), raw, false);
  } else if (leaf.element_reader->takes_raw()) {
    leaf.elements->AppendText(raw);
  } else {
    leaf.CheckElement(ParseFault::kSyntax, raw, false);
  }
  return true;
}

bool JsonRowReader::ReadRowKind() {
  std::string_view text;
  if (cursor_.Peek() == '"') {
    if (!TakeText(text)) return false;
    if (const auto kind = ParseRowKind(text); kind) {
      kind_ = *kind;
      return true;
    }
  } else if (!cursor_.Skip(text)) {
    return false;
  }
  kind_fault_ = fmt::format("op: '{}' is none of +I -U +U -D", text.substr(0, 20));
  return true;
}

bool JsonRowReader::FinishRow() {
  for (Leaf& leaf : leaves_) {
    const JsonField& field = leaf.field;
    if (leaf.row != row_) {
      leaf.is_null = field.default_value == nullptr || field.default_value->IsNull(0);
      if (field.output >= 0 && leaf.is_null) ColumnOf(leaf).AppendNull();
      if (field.output >= 0 && !leaf.is_null) ColumnOf(leaf).AppendFrom(*field.default_value, 0);
    } else if (leaf.fault != ParseFault::kNone) {
      return cursor_.Fail(leaf.fault_text);
    }
    if (leaf.is_null && field.not_null)
      return cursor_.Fail(fmt::format("column {}: NULL in the primary key", field.name));
  }
  return kind_fault_.empty() || cursor_.Fail(kind_fault_);
}

}  // namespace weir
