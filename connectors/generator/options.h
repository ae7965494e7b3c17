// The generator connector: deterministic rows by seed, and the files that `weir generate` writes.
//
// The rows of a kind depend on the seed and the options alone.  orders, visits and behaviour are spread evenly over
// `days` days from 2026-01-01 on (attribution.h, behaviour.h); nexmark.person, nexmark.auction and nexmark.bid are the
// streams of the benchmark (nexmark_law.h): `rows` and `rate` count the events of all three, of which a stream has its
// share, and `users` and `days` mean nothing.  schema.cc has the columns of every kind.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/runtime/source.h"

namespace weir {

struct GeneratorOptions {
  std::string name;
  std::string kind;  // orders | visits | behaviour | nexmark.person | nexmark.auction | nexmark.bid
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
// Writes DIR/<kind>.jsonl (for nexmark person.jsonl, auction.jsonl and bid.jsonl) in the bytes of the public
// benchmark's generator: amounts with two decimals, ts as epoch ms; Nexmark's names and times as they are there.
Status GenerateFiles(const GeneratorOptions& options, const std::string& folder);

}  // namespace weir
