// Which bucket of a table a row belongs to: Fluss's rule, so that a bucket here is the bucket there.
//
//   key bytes   the bucket-key columns one after the other, no NULL bits: BOOLEAN, TINYINT 1 byte; SMALLINT 2 bytes
//               little endian; INT, DATE, TIME (ms) the LEB128 varint of the 32-bit pattern; BIGINT, TIMESTAMP (ms, and
//               above 3 digits also the ns within the ms), DECIMAL up to 18 digits that of the 64-bit pattern; FLOAT,
//               DOUBLE 4 and 8 bytes little endian; text, bytes and larger DECIMALs (big-endian two's complement, as
//               short as it can be) with their length before them.
//   bucket      murmur of the hash, of the bytes with seed 42; every byte behind the last whole word is a word of its
//               own, sign-extended (Flink's and Fluss's variant of Murmur3_32).
// Source: Apache Fluss, CompactedKeyEncoder and BucketingFunction, checked against the released client's output.
// A NULL is no part of Fluss's rule (its keys have none): here it is one byte 0xff, for keys of internal tables.
// -0.0 goes where 0.0 goes, and every NaN to one bucket, because they are equal in SQL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/batch.h"

namespace weir {

// The hash of a key's bytes that the bucket is taken from: at least 0.
int32_t BucketHash(std::string_view key_bytes);

// buckets[i] = bucket of row i, from 0 to count - 1.  `buckets` is resized.  No allocation a row.
void BucketRows(const Batch& batch, std::span<const int> key_columns, int count, std::vector<uint16_t>& buckets);

// The key bytes of one row: for tests and messages.
std::string BucketKeyBytes(const Batch& batch, std::span<const int> key_columns, size_t row);

// The task of a stage of `parallelism` tasks that owns a bucket.
inline int TaskOfBucket(int bucket, int parallelism) { return bucket % parallelism; }

}  // namespace weir
