#include "connectors/format/json_cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/check.h"

namespace weir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kMaxDepth = 1024;
constexpr size_t kFirstCapacity = 64 * 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code unit of four hexadecimal digits at the start of `text`; -1 when there are none.
int CodeUnit(std::string_view text) {
  if (text.size() < 4) return -1;
  int unit = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int digit = HexValue(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

void AppendUtf8(uint32_t code, std::string& out) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 63));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 63)), put(0x80 | (code >> 6 & 63)), put(0x80 | (code & 63));
  }
}

// Takes one \uXXXX, or the pair that makes one character; `text` starts behind the first "\u".
const char* TakeUnicodeEscape(std::string_view& text, std::string& out) {
  const int first = CodeUnit(text);
  if (first < 0) return "an escape \\u without four hexadecimal digits";
  text.remove_prefix(4);
  auto code = static_cast<uint32_t>(first);
  if (code == 0) return "the character U+0000 in a text";
  if (code >= 0xDC00 && code < 0xE000) return "a surrogate without its partner";
  if (code >= 0xD800 && code < 0xDC00) {
    const int second = text.starts_with("\\u") ? CodeUnit(text.substr(2)) : -1;
    if (second < 0xDC00 || second >= 0xE000) return "a surrogate without its partner";
    text.remove_prefix(6);
    code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<uint32_t>(second) - 0xDC00);
  }
  AppendUtf8(code, out);
  return nullptr;
}

}  // namespace

bool IsJsonNumber(std::string_view token) {
  const char* at = token.data();
  const char* end = at + token.size();
  const auto digits = [&] {
    const char* start = at;
    while (at != end && IsDigit(*at)) ++at;
    return at - start;
  };
  if (at != end && *at == '-') ++at;
  const bool leading_zero = at != end && *at == '0';
  const auto whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (at != end && *at == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (digits() == 0) return false;
  }
  return at == end;
}

const char* UnescapeJson(std::string_view raw, std::string& out) {
  while (true) {
    const size_t slash = raw.find('\\');
    out.append(raw.substr(0, slash));
    if (slash == std::string_view::npos) return nullptr;
    raw.remove_prefix(slash + 1);
    if (raw.empty()) return "an escape without a character";
    const char kind = raw.front();
    raw.remove_prefix(1);
    switch (kind) {
      case '"':
      case '\\':
      case '/':
        out += kind;
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        if (const char* fault = TakeUnicodeEscape(raw, out); fault != nullptr) return fault;
        break;
      default:
        return "an escape that JSON does not have";
    }
  }
}

JsonCursor::JsonCursor() {
  const auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(kFirstCapacity, 1, stage_);
  WEIR_CHECK_EQ(static_cast<int>(error), static_cast<int>(simdjson::SUCCESS));
}

bool JsonCursor::Open(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text_ = text.data();
  size_ = text.size();
  at_ = count_ = 0;
  if (size_ > stage_->capacity()) {
    if (size_ >= UINT32_MAX - 64) return Fail("a document of 4 GiB or more");
    const size_t wanted = std::max(size_, 2 * stage_->capacity());
    if (stage_->set_capacity(wanted) != simdjson::SUCCESS) return Fail("no memory for the document");
  }
  const auto error = stage_->stage1(reinterpret_cast<const uint8_t*>(text_), size_, simdjson::stage1_mode::regular);
  switch (error) {
    case simdjson::SUCCESS:
      break;
    case simdjson::EMPTY:
      return Fail("an empty document");
    case simdjson::UTF8_ERROR:
      return Fail("not UTF-8");
    case simdjson::UNESCAPED_CHARS:
      return Fail("a control character inside a text");
    case simdjson::UNCLOSED_STRING:
      return Fail(fmt::format("ends in the middle of a text at byte {}", size_));
    default:
      return Fail(simdjson::error_message(error));
  }
  index_ = stage_->structural_indexes.get();
  count_ = stage_->n_structural_indexes;
  has_escapes_ = std::memchr(text_, '\\', size_) != nullptr;
  return count_ > 0 || Fail("an empty document");
}

bool JsonCursor::Unexpected(const char* expected) {
  if (done()) return Fail(fmt::format("ends in the middle of a value at byte {}", size_));
  const char c = Peek();
  const size_t byte = index_[at_];
  if (c > ' ' && c < 0x7f) return Fail(fmt::format("'{}' at byte {} where {} should be", c, byte, expected));
  return Fail(fmt::format("byte 0x{:02x} at byte {} where {} should be", static_cast<uint8_t>(c), byte, expected));
}

bool JsonCursor::Skip(std::string_view& text) {
  if (done()) return Unexpected("a value");
  const char* from = here();
  const uint32_t first = at_;
  if (!SkipValue(0)) return false;
  // A container ends with its bracket, a scalar where its token ends.
  const char* to = text_ + index_[at_ - 1] + 1;
  if (at_ == first + 1) {
    at_ = first;
    text = TakeToken();
  } else {
    text = {from, static_cast<size_t>(to - from)};
  }
  return true;
}

bool JsonCursor::SkipValue(int depth) {
  switch (Peek()) {
    case '"':
      return SkipString();
    case '{':
      return depth < kMaxDepth ? SkipObject(depth + 1) : Fail("nested too deeply");
    case '[':
      return depth < kMaxDepth ? SkipArray(depth + 1) : Fail("nested too deeply");
    case 't':
      return TakeWord("true") || Unexpected("a value");
    case 'f':
      return TakeWord("false") || Unexpected("a value");
    case 'n':
      return TakeWord("null") || Unexpected("a value");
    default:
      return SkipNumber();
  }
}

bool JsonCursor::SkipNumber() {
  if (done()) return Unexpected("a value");
  const uint32_t mark = at_;
  if (IsJsonNumber(TakeToken())) return true;
  at_ = mark;
  return Unexpected("a value");
}

bool JsonCursor::SkipString() {
  const std::string_view raw = TakeString();
  if (!HasEscapes(raw)) return true;
  scratch_.clear();
  const char* fault = UnescapeJson(raw, scratch_);
  return fault == nullptr || Fail(fault);
}

bool JsonCursor::SkipObject(int depth) {
  Advance();
  if (Peek() == '}') {
    Advance();
    return true;
  }
  while (true) {
    if (Peek() != '"') return Unexpected("a key");
    if (!SkipString() || !Expect(':', "a colon") || !SkipValue(depth)) return false;
    const char c = Peek();
    if (c != ',' && c != '}') return Unexpected("a comma or the end of the object");
    Advance();
    if (c == '}') return true;
  }
}

bool JsonCursor::SkipArray(int depth) {
  Advance();
  if (Peek() == ']') {
    Advance();
    return true;
  }
  while (true) {
    if (!SkipValue(depth)) return false;
    const char c = Peek();
    if (c != ',' && c != ']') return Unexpected("a comma or the end of the array");
    Advance();
    if (c == ']') return true;
  }
}

}  // namespace weir
