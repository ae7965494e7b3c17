// The generator connector: deterministic rows by seed, and the files that `weir generate` writes.
//
// Row i of a kind depends on seed, i and the options alone, so any number of partitions and any restart give the same
// rows.  Kinds: orders {order_id bigint, user_id bigint, amount decimal(12,2), ts timestamp(3), ds string} and visits
// {visit_id bigint, user_id bigint, channel string, page string, ts timestamp(3), ds string}: users uniform in
// [0, users), rows spread evenly over `days` days in the order of time, ids from 1, ds = yyyy-MM-dd of ts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/runtime/source.h"

namespace weir {

struct GeneratorOptions {
  std::string name;
  std::string kind;  // orders | visits | behaviour | nexmark
  int64_t rows = 1'000'000;
  std::optional<int64_t> rate;  // rows a second over all partitions; empty = flat out
  uint64_t seed = 1;
  int64_t users = 200'000;
  int days = 7;
  Micros out_of_orderness = 0;  // rows are moved in time by up to this much
  int partitions = 4;           // row i is in partition i % partitions
  std::vector<int> read;        // columns of GeneratorSchema to produce, in this order
};

// The columns of a kind; empty for an unknown kind.
std::optional<Schema> GeneratorSchema(const std::string& kind);
Result<std::unique_ptr<Source>> MakeGeneratorSource(const GeneratorOptions& options);
// Writes DIR/<kind>.jsonl (for nexmark person.jsonl, auction.jsonl and bid.jsonl) in the bytes of the public benchmark's
// generator: amounts with two decimals, ts as epoch ms.
Status GenerateFiles(const GeneratorOptions& options, const std::string& folder);

}  // namespace weir
