#include "sql/expr/md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace weir {
namespace {

// K[i] = floor(2^32 * |sin(i + 1)|), RFC 1321 section 3.4.
const std::array<uint32_t, 64>& SineTable() {
  static const std::array<uint32_t, 64> table = [] {
    std::array<uint32_t, 64> out{};
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<uint32_t>(std::floor(4294967296.0 * std::fabs(std::sin(static_cast<double>(i + 1)))));
    }
    return out;
  }();
  return table;
}

constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

void AddBlock(const char* block, std::array<uint32_t, 4>& state) {
  uint32_t words[16];
  std::memcpy(words, block, sizeof(words));  // little-endian machines only, as all of weir's formats
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t round = i / 16;
    uint32_t mixed = 0;
    uint32_t word = 0;
    switch (round) {
      case 0:
        mixed = (b & c) | (~b & d), word = i;
        break;
      case 1:
        mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16;
        break;
      case 2:
        mixed = b ^ c ^ d, word = (3 * i + 5) % 16;
        break;
      default:
        mixed = c ^ (b | ~d), word = 7 * i % 16;
        break;
    }
    const uint32_t rotated = std::rotl(a + mixed + SineTable()[i] + words[word], kShifts[round][i % 4]);
    a = d;
    d = c;
    c = b;
    b += rotated;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

}  // namespace

void AppendMd5(std::string_view bytes, std::string& out) {
  std::array<uint32_t, 4> state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (; bytes.size() >= 64; bytes.remove_prefix(64)) AddBlock(bytes.data(), state);
  char tail[128] = {};
  if (!bytes.empty()) std::memcpy(tail, bytes.data(), bytes.size());
  tail[bytes.size()] = static_cast<char>(0x80);
  const size_t size = bytes.size() < 56 ? 64 : 128;
  std::memcpy(tail + size - 8, &bits, 8);
  for (size_t at = 0; at < size; at += 64) AddBlock(tail + at, state);
  for (const uint32_t word : state) {
    for (int shift = 0; shift < 32; shift += 8) {
      const uint32_t byte = word >> shift & 255;
      out += "0123456789abcdef"[byte >> 4];
      out += "0123456789abcdef"[byte & 15];
    }
  }
}

}  // namespace weir
