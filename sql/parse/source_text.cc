#include "sql/parse/source_text.h"

#include <algorithm>

namespace weir {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The offset behind a quoted piece that begins at `at`; a doubled quote belongs to it, a backslash escapes only in E''.
size_t SkipQuoted(const std::string& text, size_t at, bool backslash) {
  const char quote = text[at];
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (backslash && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (i + 1 < text.size() && text[i + 1] == quote) {
        ++i;
      } else {
        return i + 1;
      }
    }
  }
  return text.size();
}

// The offset behind a comment that begins at `at`, or `at` when there is none.  Block comments nest.
size_t SkipComment(const std::string& text, size_t at) {
  if (text.compare(at, 2, "--") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") != 0) return at;
  int depth = 0;
  for (size_t i = at; i < text.size();) {
    if (text.compare(i, 2, "/*") == 0) {
      ++depth;
      i += 2;
    } else if (text.compare(i, 2, "*/") == 0) {
      i += 2;
      if (--depth == 0) return i;
    } else {
      ++i;
    }
  }
  return text.size();
}

// The offset behind a dollar-quoted literal that begins at `at`, or `at` when there is none.
size_t SkipDollarQuoted(const std::string& text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (IsWordStart(text[end]) || (end > at + 1 && IsDigit(text[end])))) ++end;
  if (end >= text.size() || text[end] != '$') return at;
  const std::string tag = text.substr(at, end + 1 - at);
  const size_t close = text.find(tag, end + 1);
  return close == std::string::npos ? text.size() : close + tag.size();
}

}  // namespace

SourceText::SourceText(std::string text) : text_(std::move(text)) { CollectWords(); }

TextPlace SourceText::Locate(size_t byte_offset) const {
  TextPlace place;
  const size_t end = std::min(byte_offset, text_.size());
  for (size_t i = 0; i < end; ++i) {
    if (text_[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if (i + 1 >= end || !IsContinuation(text_[i + 1])) {
      ++place.column;
    }
  }
  return place;
}

size_t SourceText::OffsetOfCharacter(size_t character) const {
  size_t seen = 0;
  for (size_t i = 0; i < text_.size(); ++i) {
    if (IsContinuation(text_[i])) continue;
    if (++seen == character) return i;
  }
  return character == 0 ? 0 : text_.size();
}

void SourceText::CollectWords() {
  for (size_t i = 0; i < text_.size();) {
    const char c = text_[i];
    if (const size_t behind = SkipComment(text_, i); behind != i) {
      i = behind;
    } else if (c == '\'' || c == '"') {
      const bool escapes = c == '\'' && i > 0 && (text_[i - 1] == 'e' || text_[i - 1] == 'E') && !words_.empty() &&
                           words_.back().at + 1 == i;
      i = SkipQuoted(text_, i, escapes);
    } else if (c == '$') {
      const size_t behind_dollar = SkipDollarQuoted(text_, i);
      i = behind_dollar == i ? i + 1 : behind_dollar;
    } else if (IsWordStart(c)) {
      Word word{i, {}};
      while (i < text_.size() && (IsWordStart(text_[i]) || IsDigit(text_[i]) || text_[i] == '$')) {
        const char letter = text_[i++];
        word.lower.push_back(letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
      }
      words_.push_back(std::move(word));
    } else {
      if (!IsBlank(c) && !IsDigit(c)) signs_.push_back({i, c});
      ++i;
    }
  }
}

size_t SourceText::FindKeyword(std::string_view keyword, size_t from, size_t to, size_t otherwise) const {
  for (const Word& word : words_) {
    if (word.at >= from && word.at < to && word.lower == keyword) return word.at;
  }
  return otherwise;
}

size_t SourceText::FindLastKeyword(std::string_view keyword, size_t from, size_t to, size_t otherwise) const {
  size_t found = otherwise;
  for (const Word& word : words_) {
    if (word.at >= from && word.at < to && word.lower == keyword) found = word.at;
  }
  return found;
}

std::string SourceText::NegativeNumberAt(size_t offset) const {
  if (offset >= text_.size() || text_[offset] != '-') return {};
  size_t i = offset + 1;
  while (i < text_.size()) {
    const size_t behind = SkipComment(text_, i);
    if (behind != i) {
      i = behind;
    } else if (text_[i] == ' ' || text_[i] == '\n' || text_[i] == '\t' || text_[i] == '\r' || text_[i] == '\f') {
      ++i;
    } else {
      break;
    }
  }
  std::string number = "-";
  while (i < text_.size() && IsDigit(text_[i])) number.push_back(text_[i++]);
  return number.size() > 1 ? number : std::string();
}

}  // namespace weir
