// Where weir meets RocksDB: its options, and its failures as ours.
#pragma once

#include <fmt/format.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace weir {

// For the database of a base and for the files that a fold writes.
rocksdb::Options MakeBaseOptions(std::shared_ptr<rocksdb::Cache> block_cache);

inline Error BaseError(const std::string& folder, std::string_view what, std::string_view why) {
  return StateError(fmt::format("cannot {}: {}", what, why), folder);
}
inline Status BaseStatus(const std::string& folder, std::string_view what, const rocksdb::Status& status) {
  if (status.ok()) return {};
  return BaseError(folder, what, status.ToString());
}

// What `call` returns, or what it threw as an error: RocksDB throws little, but it allocates and makes threads.
template <class Call>
auto Guarded(const std::string& folder, std::string_view what, const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& thrown) {
    return BaseError(folder, what, thrown.what());
  }
}

}  // namespace weir
