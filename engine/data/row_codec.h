// Rows as bytes: what keyed state stores, compares and writes to snapshots.
//
// A row is its NULL bits (one a field, rounded up to bytes), then the fields that are not NULL, in order:
//   boolean 1 byte; int64 forms a zigzag varint of 1 to 9 bytes; double 8 bytes; int128 16 bytes;
//   text a varint length and the bytes.
// A varint keeps its length in the trailing zeros of its first byte, so that it is read with one load and no loop.
// The encoding delimits itself: two rows are equal if one is a prefix of the other.
//
// Readers may touch up to kRowSlack bytes behind a row: buffers of rows end with that many readable bytes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/data/batch.h"

namespace weir {

inline constexpr size_t kRowSlack = 8;

// The encoded rows of one batch in one buffer; keep it and reuse it, so that no row allocates.
struct EncodedRows {
  Buffer<char> bytes;
  std::vector<uint32_t> offsets;  // one more than there are rows

  size_t rows() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view row(size_t i) const { return {bytes.data() + offsets[i], offsets[i + 1] - offsets[i]}; }
};

class RowCodec {
 public:
  enum class Form {
    kExact,  // every value comes back as it was
    kKey,    // equal SQL values give equal bytes: -0.0 becomes 0.0
  };

  RowCodec() = default;
  RowCodec(const std::vector<DataType>& types, Form form);

  size_t fields() const { return fields_.size(); }

  // Encodes the given columns, one for each field, of every row.
  void Encode(const Batch& batch, std::span<const int> columns, EncodedRows& out) const;

  // Appends field f of every row to targets[f], where that is not null.  `rows` point to encoded rows; with `advance`
  // they point behind them afterwards, otherwise their values are unspecified.
  void Decode(std::span<const char*> rows, std::span<Column* const> targets, bool advance = false) const;

  // The length of the encoded row at `row`.
  size_t EncodedSize(const char* row) const;

 private:
  std::vector<Physical> fields_;
  size_t null_bytes_ = 0;
  Form form_ = Form::kExact;
};

// The varint of the row encoding, for unsigned numbers; `out` needs 9 bytes of room.  Return the end.
char* PutVarint(char* out, uint64_t value);
const char* GetVarint(const char* in, uint64_t& value);
size_t VarintSize(uint64_t value);

}  // namespace weir
