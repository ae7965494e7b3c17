#include "sql/expr/utf8.h"

namespace weir {

int32_t DecodeCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const int first = byte(0);
  const size_t size = CharacterBytes(text);
  if (first >= 0xC2 && first < 0xE0 && size == 2) return (first & 0x1F) << 6 | (byte(1) & 0x3F);
  if (first >= 0xE0 && first < 0xF0 && size == 3)
    return (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  if (first >= 0xF0 && first < 0xF5 && size == 4) {
    return (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
  return first;
}

void AppendCharacter(int32_t code_point, std::string& out) {
  const auto add = [&out](int32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    add(code_point);
  } else if (code_point < 0x800) {
    add(0xC0 | code_point >> 6), add(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    add(0xE0 | code_point >> 12), add(0x80 | (code_point >> 6 & 0x3F)), add(0x80 | (code_point & 0x3F));
  } else {
    add(0xF0 | code_point >> 18), add(0x80 | (code_point >> 12 & 0x3F));
    add(0x80 | (code_point >> 6 & 0x3F)), add(0x80 | (code_point & 0x3F));
  }
}

// The blocks where upper and lower case lie at a fixed distance or next to one another.
int32_t ToUpper(int32_t c) {
  if (c >= 'a' && c <= 'z') return c - 32;
  if (c < 0x80) return c;
  if ((c >= 0xE0 && c <= 0xFE && c != 0xF7) || (c >= 0x3B1 && c <= 0x3C9 && c != 0x3C2)) return c - 32;
  if (c == 0xFF) return 0x178;
  if (c == 0x3C2) return 0x3A3;
  if (c >= 0x430 && c <= 0x44F) return c - 32;
  if (c >= 0x450 && c <= 0x45F) return c - 80;
  const bool even_upper = (c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) || (c >= 0x14A && c <= 0x177) ||
                          (c >= 0x460 && c <= 0x481) || (c >= 0x1E00 && c <= 0x1E95);
  const bool odd_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if (even_upper && c % 2 == 1) return c - 1;
  if (odd_upper && c % 2 == 0) return c - 1;
  return c;
}

int32_t ToLower(int32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c < 0x80) return c;
  if ((c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9 && c != 0x3A2)) return c + 32;
  if (c == 0x178) return 0xFF;
  if (c >= 0x410 && c <= 0x42F) return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  const bool even_upper = (c >= 0x100 && c <= 0x137 && c != 0x130 && c != 0x131) || (c >= 0x14A && c <= 0x177) ||
                          (c >= 0x460 && c <= 0x481) || (c >= 0x1E00 && c <= 0x1E95);
  const bool odd_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  if (even_upper && c % 2 == 0) return c + 1;
  if (odd_upper && c % 2 == 1) return c + 1;
  return c;
}

}  // namespace weir
