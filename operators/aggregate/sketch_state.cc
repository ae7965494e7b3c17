#include "operators/aggregate/sketch_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/data/hash.h"
#include "operators/aggregate/object_state.h"

namespace weir {
namespace {

constexpr int kIndexBits = 12;
constexpr size_t kRegisters = size_t{1} << kIndexBits;
constexpr int kRanks = 64 - kIndexBits + 1;  // the largest value of a register
constexpr size_t kMaxSparse = 512;           // registers in a list

class Sketch {
 public:
  void Add(uint64_t hash) {
    const auto index = static_cast<uint32_t>(hash >> (64 - kIndexBits));
    const uint64_t rest = hash << kIndexBits | uint64_t{1} << (kIndexBits - 1);
    Raise(index, static_cast<uint8_t>(__builtin_clzll(rest) + 1));
  }

  int64_t Estimate() const {
    std::array<int, kRanks + 1> counts{};
    if (dense_.empty()) {
      counts[0] = static_cast<int>(kRegisters - sparse_.size());
      for (const uint32_t entry : sparse_) ++counts[entry & 0xFF];
    } else {
      for (const uint8_t rank : dense_) ++counts[rank];
    }
    constexpr auto m = static_cast<double>(kRegisters);
    double z = m * Tau((m - counts[kRanks]) / m);
    for (int rank = kRanks - 1; rank >= 1; --rank) z = 0.5 * (z + counts[static_cast<size_t>(rank)]);
    z += m * Sigma(counts[0] / m);
    return std::llround(m * m / (2 * std::log(2.0) * z));
  }

  void Serialise(std::string& out) const {
    if (!dense_.empty()) return void(out.append(reinterpret_cast<const char*>(dense_.data()), dense_.size()));
    out.append(reinterpret_cast<const char*>(sparse_.data()), sparse_.size() * sizeof(uint32_t));
  }
  static std::optional<Sketch> Parse(const Sketch&, std::string_view bytes) {
    Sketch sketch;
    if (bytes.size() == kRegisters) {
      sketch.dense_.assign(bytes.begin(), bytes.end());
      const auto good = [](uint8_t rank) { return rank <= kRanks; };
      return std::all_of(sketch.dense_.begin(), sketch.dense_.end(), good) ? std::optional(sketch) : std::nullopt;
    }
    if (bytes.size() % sizeof(uint32_t) != 0) return std::nullopt;
    for (size_t at = 0; at < bytes.size(); at += sizeof(uint32_t)) {
      const auto entry = LoadAt<uint32_t>(bytes.data() + at);
      if (entry >> 8 >= kRegisters || (entry & 0xFF) > kRanks) return std::nullopt;
      sketch.Raise(entry >> 8, static_cast<uint8_t>(entry & 0xFF));
    }
    return sketch;
  }
  void Merge(const Sketch& other) {
    for (const uint32_t entry : other.sparse_) Raise(entry >> 8, static_cast<uint8_t>(entry & 0xFF));
    for (uint32_t index = 0; index < other.dense_.size(); ++index) {
      if (other.dense_[index] > 0) Raise(index, other.dense_[index]);
    }
  }
  size_t ByteSize() const { return sizeof *this + sparse_.capacity() * sizeof(uint32_t) + dense_.size(); }

 private:
  static_assert(kMaxSparse * sizeof(uint32_t) < kRegisters, "the two forms are told apart by their size");

  void Raise(uint32_t index, uint8_t rank) {
    if (!dense_.empty()) {
      dense_[index] = std::max(dense_[index], rank);
      return;
    }
    const auto place = std::lower_bound(sparse_.begin(), sparse_.end(), index << 8);
    if (place != sparse_.end() && *place >> 8 == index) {
      *place = std::max(*place, index << 8 | rank);
      return;
    }
    sparse_.insert(place, index << 8 | rank);
    if (sparse_.size() <= kMaxSparse) return;
    dense_.assign(kRegisters, 0);
    for (const uint32_t entry : sparse_) dense_[entry >> 8] = static_cast<uint8_t>(entry & 0xFF);
    sparse_ = {};
  }

  // The two series of Ertl's estimator, for registers that are still empty and for those that are full.
  static double Sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double y = 1;
    double z = x;
    for (double before = -1; z != before;) {
      x *= x;
      before = z;
      z += x * y;
      y += y;
    }
    return z;
  }
  static double Tau(double x) {
    if (x == 0 || x == 1) return 0;
    double y = 1;
    double z = 1 - x;
    for (double before = -1; z != before;) {
      x = std::sqrt(x);
      before = z;
      y *= 0.5;
      z -= (1 - x) * (1 - x) * y;
    }
    return z / 3;
  }

  std::vector<uint32_t> sparse_;  // register << 8 | value, sorted
  std::vector<uint8_t> dense_;    // all registers; empty while the list is in use
};

class SketchState final : public ObjectState<Sketch> {
 public:
  SketchState(const AggregateCall& call, uint8_t part, KeyedState* state)
      : ObjectState(Sketch(), part, state), call_(call) {}

  Result<int64_t> Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) override {
    const Column& column = batch.column(static_cast<size_t>(call_.argument));
    const Column* filter = FilterColumn(batch, call_);
    const int columns[] = {call_.argument};
    HashRows(batch, columns, hashes_);
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (signs[row] == 0 || column.IsNull(row) || !FilterPasses(filter, row)) continue;
      Change(groups[row]).Add(MixHash(hashes_[row]));
    }
    return 0;
  }

  Status Append(const char* group, Column& out) override {
    const Sketch* sketch = Find(group);
    out.AppendInt(sketch == nullptr ? 0 : sketch->Estimate());
    return {};
  }

 private:
  void Merge(Sketch& sketch, Sketch& other) override { sketch.Merge(other); }

  AggregateCall call_;
  std::vector<uint64_t> hashes_;
};

}  // namespace

std::unique_ptr<CallState> MakeSketchState(const AggregateCall& call, uint8_t part, KeyedState* state) {
  return std::make_unique<SketchState>(call, part, state);
}

}  // namespace weir
