// Characters of UTF-8 texts: SQL counts characters, not bytes.  A text that is not valid UTF-8 counts each lead byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

inline bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

inline int64_t CountCharacters(std::string_view text) {
  int64_t count = 0;
  for (const char byte : text) count += !IsContinuation(byte);
  return count;
}

inline bool IsAscii(std::string_view text) {
  unsigned char all = 0;
  for (const char byte : text) all |= static_cast<unsigned char>(byte);
  return all < 0x80;
}

// The byte where character `index` (from 0) starts; text.size() when there are fewer.
inline size_t ByteOffset(std::string_view text, int64_t index) {
  size_t at = 0;
  while (at < text.size()) {
    if (!IsContinuation(text[at]) && index-- == 0) return at;
    ++at;
  }
  return at;
}

// Bytes of the character that starts at text[0].  REQUIRES: !text.empty().
inline size_t CharacterBytes(std::string_view text) {
  size_t size = 1;
  while (size < text.size() && IsContinuation(text[size])) ++size;
  return size;
}

// The code point of the first character, or of its first byte when it is malformed.
int32_t DecodeCharacter(std::string_view text);
void AppendCharacter(int32_t code_point, std::string& out);

// Upper and lower case of one code point: ASCII, Latin, Greek and Cyrillic letters.
int32_t ToUpper(int32_t code_point);
int32_t ToLower(int32_t code_point);

}  // namespace weir
