// Hashes of keys that are kept encoded: a state file has the keys of its records, not their hashes.
#pragma once

#include <span>
#include <vector>

#include "engine/data/row_codec.h"

namespace weir {

// hashes[i] = what HashRows gives for the `columns` of a row of `schema` whose key, encoded by `codec`, begins at
// rows[i].  `hashes` is resized; the values of `rows` are unspecified afterwards.
void HashEncodedKeys(const RowCodec& codec, const Schema& schema, std::span<const int> columns,
                     std::span<const char*> rows, std::vector<uint64_t>& hashes);

}  // namespace weir
