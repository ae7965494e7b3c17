#include "engine/data/encoded_keys.h"

#include <memory>

#include "engine/data/hash.h"

namespace weir {

void HashEncodedKeys(const RowCodec& codec, const Schema& schema, std::span<const int> columns,
                     std::span<const char*> rows, std::vector<uint64_t>& hashes) {
  std::vector<Field> fields;
  std::vector<std::shared_ptr<Column>> decoded;
  std::vector<Column*> targets;
  std::vector<int> all;
  for (const int column : columns) {
    fields.push_back(schema[static_cast<size_t>(column)]);
    decoded.push_back(std::make_shared<Column>(fields.back().type));
    targets.push_back(decoded.back().get());
    all.push_back(static_cast<int>(all.size()));
  }
  codec.Decode(rows, targets);
  HashRows(Batch(std::make_shared<const Schema>(std::move(fields)), {decoded.begin(), decoded.end()}, rows.size()), all,
           hashes);
}

}  // namespace weir
