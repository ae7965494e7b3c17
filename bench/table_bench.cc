// The base of a table alone: folds of 300,000 rows of about 60 bytes and lookups of groups of 5 rows and of single
// rows, from the block cache and with an empty one (files in the page cache).  Prints CPU microseconds; the folds'
// compactions in the background are counted apart.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>

#include "tables/base/table_base.h"

namespace weir {
namespace {

constexpr int kBuckets = 16;
constexpr int kGroups = 60'000;
constexpr int kRowsOfGroup = 5;
constexpr int kGroupsOfScan = 1'000;
constexpr int kScans = 40;
constexpr int64_t kCacheBytes = 256 << 20;

double CpuMicros(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

template <class T>
T Must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string BigEndian(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

struct Row {
  std::string group;
  std::string unique;
  std::string rest;
};
using Buckets = std::vector<std::vector<Row>>;

// Groups are a user and a day, as in the attribution job; `rest` is 30 bytes, half of them random.
Buckets MakeRows(std::mt19937_64& random) {
  Buckets buckets(kBuckets);
  for (int i = 0; i < kGroups * kRowsOfGroup; ++i) {
    const int group = i % kGroups;
    std::string key = BigEndian(static_cast<uint64_t>(group) * 7919, 8) +
                      "\x0a"
                      "2024-03-0" +
                      std::to_string(group % 7);
    std::string rest = BigEndian(random(), 8) + BigEndian(random() % 1000, 8) + "a channel text";
    buckets[group % kBuckets].push_back({std::move(key), BigEndian(static_cast<uint64_t>(i), 8), std::move(rest)});
  }
  for (auto& rows : buckets) std::shuffle(rows.begin(), rows.end(), random);
  return buckets;
}

void FoldAll(TableBase& base, const Buckets& buckets, int number) {
  const double thread = CpuMicros(CLOCK_THREAD_CPUTIME_ID);
  const double process = CpuMicros(CLOCK_PROCESS_CPUTIME_ID);
  Fold fold(base);
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    for (const Row& row : buckets[bucket]) Must(fold.Add(bucket, {false, row.group, row.unique, row.rest}));
  }
  Must(fold.Finish("marker"));
  const double spent = CpuMicros(CLOCK_THREAD_CPUTIME_ID) - thread;
  const double others = CpuMicros(CLOCK_PROCESS_CPUTIME_ID) - process - spent;
  const auto rows = static_cast<double>(fold.rows());
  std::printf("fold %d: %.2f us a row, %.2f on other threads meanwhile, %.1f MB in files, %d files at level 0\n",
              number, spent / rows, others / rows, static_cast<double>(fold.bytes()) / 1e6, base.level0_files());
}

void ScanGroups(TableBase& base, const Buckets& buckets, const char* what, bool missing) {
  std::mt19937_64 random(7);
  size_t found = 0;
  double spent = 0;
  for (int scan = 0; scan < kScans; ++scan) {
    std::vector<std::string> absent(kGroupsOfScan);
    std::vector<GroupKey> groups;
    for (int i = 0; i < kGroupsOfScan; ++i) {
      const int bucket = static_cast<int>(random() % kBuckets);
      absent[i] = buckets[bucket][random() % buckets[bucket].size()].group;
      if (missing) absent[i].back() = 'x';
      groups.push_back({bucket, absent[i]});
    }
    const double start = CpuMicros(CLOCK_THREAD_CPUTIME_ID);
    Must(base.Scan(groups, [&found](size_t, std::string_view, std::string_view rest) { found += rest.size() > 0; }));
    spent += CpuMicros(CLOCK_THREAD_CPUTIME_ID) - start;
  }
  std::printf("scan, %s: %.2f us a group, %.2f a row\n", what, spent / (kScans * kGroupsOfScan),
              found == 0 ? 0.0 : spent / static_cast<double>(found));
}

void GetRows(TableBase& base, const Buckets& buckets) {
  std::mt19937_64 random(8);
  size_t found = 0;
  double spent = 0;
  for (int scan = 0; scan < kScans; ++scan) {
    std::vector<RowKey> rows;
    for (int i = 0; i < kGroupsOfScan; ++i) {
      const int bucket = static_cast<int>(random() % kBuckets);
      const Row& row = buckets[bucket][random() % buckets[bucket].size()];
      rows.push_back({bucket, row.group, row.unique});
    }
    const double start = CpuMicros(CLOCK_THREAD_CPUTIME_ID);
    Must(base.MultiGet(rows, [&found](size_t, std::string_view) { ++found; }));
    spent += CpuMicros(CLOCK_THREAD_CPUTIME_ID) - start;
  }
  std::printf("get, from the block cache: %.2f us a row\n", spent / static_cast<double>(found));
}

int Run(const std::string& folder, int folds) {
  std::mt19937_64 random(1);
  const Buckets rows = MakeRows(random);
  {
    auto base = Must(TableBase::Open(folder, {MakeBlockCache(kCacheBytes)}));
    for (int fold = 1; fold <= folds; ++fold) FoldAll(*base, rows, fold);
  }
  auto base = Must(TableBase::Open(folder, {MakeBlockCache(kCacheBytes)}));
  std::printf("%d files at level 0, %.1f MB\n", base->level0_files(), static_cast<double>(base->bytes()) / 1e6);
  ScanGroups(*base, rows, "cold blocks", false);
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    std::vector<GroupKey> all;
    for (const Row& row : rows[bucket]) all.push_back({bucket, row.group});
    Must(base->Scan(all, [](size_t, std::string_view, std::string_view) {}));
  }
  ScanGroups(*base, rows, "from the block cache", false);
  ScanGroups(*base, rows, "groups that are not there", true);
  GetRows(*base, rows);
  return 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("table_bench." + std::to_string(time(nullptr)))).string();
  const int result = weir::Run(folder, argc > 1 ? std::atoi(argv[1]) : 1);
  std::filesystem::remove_all(folder);
  return result;
}
