#include "engine/data/hash.h"

#include <xxhash.h>

#include <cmath>
#include <limits>

namespace weir {
namespace {

constexpr uint64_t kNullHash = 0x9ae16a3b2f90404fULL;
constexpr uint64_t kSeed = 0x2545f4914f6cdd1dULL;

uint64_t Bits(double value) {
  if (value == 0) value = 0;  // -0.0 is 0.0
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint64_t Combine(uint64_t hash, uint64_t value) { return MixHash(hash ^ (value + 0x9e3779b97f4a7c15ULL)); }

template <class ValueHash>
void HashColumn(const Column& column, std::vector<uint64_t>& hashes, ValueHash value_hash) {
  const size_t rows = column.size();
  uint64_t* out = hashes.data();
  if (!column.has_nulls()) {
    for (size_t i = 0; i < rows; ++i) out[i] = Combine(out[i], value_hash(i));
    return;
  }
  const auto nulls = column.nulls();
  for (size_t i = 0; i < rows; ++i) out[i] = Combine(out[i], nulls[i] ? kNullHash : value_hash(i));
}

}  // namespace

uint64_t HashBytes(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

void HashRows(const Batch& batch, std::span<const int> key_columns, std::vector<uint64_t>& hashes) {
  hashes.assign(batch.rows(), kSeed);
  for (const int index : key_columns) {
    const Column& column = batch.column(static_cast<size_t>(index));
    switch (column.physical()) {
      case Physical::kBool: {
        const auto values = column.bools();
        HashColumn(column, hashes, [&](size_t i) { return uint64_t{values[i]}; });
        break;
      }
      case Physical::kInt64: {
        const auto values = column.ints();
        HashColumn(column, hashes, [&](size_t i) { return static_cast<uint64_t>(values[i]); });
        break;
      }
      case Physical::kDouble: {
        const auto values = column.doubles();
        HashColumn(column, hashes, [&](size_t i) { return Bits(values[i]); });
        break;
      }
      case Physical::kInt128: {
        const auto values = column.wides();
        HashColumn(column, hashes, [&](size_t i) {
          return static_cast<uint64_t>(values[i]) ^ MixHash(static_cast<uint64_t>(values[i] >> 64));
        });
        break;
      }
      case Physical::kText: {
        HashColumn(column, hashes, [&](size_t i) { return HashBytes(column.text(i)); });
        break;
      }
    }
  }
}

std::vector<uint8_t> NullKeys(const Batch& batch, std::span<const int> key_columns) {
  std::vector<uint8_t> result;
  for (const int index : key_columns) {
    const auto nulls = batch.column(static_cast<size_t>(index)).nulls();
    if (nulls.empty()) continue;
    if (result.empty()) result.assign(batch.rows(), 0);
    for (size_t i = 0; i < nulls.size(); ++i) result[i] |= nulls[i];
  }
  return result;
}

}  // namespace weir
