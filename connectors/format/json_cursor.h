// A walk over one JSON text that finds every fault in it, also in the values that nobody reads.
//
// simdjson's first stage validates UTF-8, control characters and the ends of strings with SIMD and lists the places of
// all structural characters and of the first byte of each value.  The walk over that list is ours: unlike simdjson's
// on-demand interface it validates what it skips, and unlike its DOM it writes no tape.  Between two places of the list
// there is one token and blanks, so the length of a text or number is known without looking at its bytes.
//
// Used by one thread.  The text must be readable for 64 bytes beyond its end and stay while it is walked.
#pragma once

#include <simdjson.h>

#include <memory>
#include <string>
#include <string_view>

namespace weir {

// Digits, fraction and exponent as RFC 8259 writes a number.
bool IsJsonNumber(std::string_view token);
// Appends the text of a JSON string's content.  Null, or what is wrong with an escape: lone surrogates and U+0000 too.
const char* UnescapeJson(std::string_view raw, std::string& out);

class JsonCursor {
 public:
  JsonCursor();

  // Starts at the first value of `text`.  False when the text is no JSON or empty; a byte order mark is left out.
  bool Open(std::string_view text);

  // The first byte of the next token, 0 at the end of the text.
  char Peek() const { return at_ < count_ ? text_[index_[at_]] : '\0'; }
  void Advance() { ++at_; }
  bool done() const { return at_ >= count_; }
  // Reading bytes at the next token: up to 64 beyond the text's end.
  const char* here() const { return text_ + index_[at_]; }
  // To go back to a value that was read before.
  uint32_t Mark() const { return at_; }
  void Rewind(uint32_t mark) { at_ = mark; }

  // The next token without blanks behind it.  REQUIRES: !done()
  std::string_view TakeToken() {
    const char* from = text_ + index_[at_];
    const char* to = text_ + index_[++at_];
    while (IsBlank(to[-1])) --to;
    return {from, static_cast<size_t>(to - from)};
  }
  // What stands between the quotes, still escaped.  REQUIRES: Peek() == '"'
  std::string_view TakeString() {
    const std::string_view token = TakeToken();
    return token.substr(1, token.size() - 2);
  }
  bool HasEscapes(std::string_view raw) const {
    return has_escapes_ && std::memchr(raw.data(), '\\', raw.size()) != nullptr;
  }
  // True if the next token is this word; takes it.
  bool TakeWord(std::string_view word) {
    const uint32_t mark = at_;
    if (TakeToken() == word) return true;
    at_ = mark;
    return false;
  }
  // Takes `wanted`, or fails saying what was expected.
  bool Expect(char wanted, const char* what) {
    if (Peek() != wanted) return Unexpected(what);
    ++at_;
    return true;
  }

  // Walks over one value and validates it.  `text` gets the value as it is written.
  bool Skip() { return SkipValue(0); }
  bool Skip(std::string_view& text);

  // Always false, so that callers can return it.
  bool Unexpected(const char* expected);  // at the next token
  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }
  const std::string& error() const { return error_; }

 private:
  static bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  bool SkipValue(int depth);
  bool SkipObject(int depth);
  bool SkipArray(int depth);
  bool SkipString();
  bool SkipNumber();

  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
  const char* text_ = nullptr;
  size_t size_ = 0;
  const uint32_t* index_ = nullptr;
  uint32_t at_ = 0;
  uint32_t count_ = 0;
  bool has_escapes_ = false;
  std::string error_;
  std::string scratch_;
};

}  // namespace weir
