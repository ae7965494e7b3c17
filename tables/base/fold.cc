// A fold in steps:
//   1. Add collects the changes of one bucket in a flat buffer.
//   2. When the bucket ends they are sorted by key and order of arrival; of each key the last one is written to the
//      current SST file.  A file holds several buckets: the fewer files lie at level 0, the less a lookup costs.
//   3. Finish adds the marker behind the last row and ingests all files, those of earlier runs first, in one call.  Of
//      two files that hold the same key RocksDB takes the later one for the newer.
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/base/check.h"
#include "tables/base/rocksdb_edge.h"
#include "tables/base/sorted_rows.h"
#include "tables/base/table_base.h"

namespace weir {
namespace {

constexpr uint64_t kFileBytes = 64 << 20;
constexpr size_t kRowsBetweenSizeChecks = 256;
constexpr size_t kPrefetchDistance = 8;

}  // namespace

struct Fold::State {
  State(TableBase& folded, bool first_run) : base(folded), first(first_run && folded.empty()) {}

  TableBase& base;
  const bool first;  // there is nothing in the base that a removal could remove
  bool failed = false;
  bool over = false;
  int bucket = 0;
  SortedRows changes;  // of `bucket`
  std::optional<rocksdb::SstFileWriter> writer;
  std::vector<std::string> files;
  int64_t rows = 0;
  int64_t bytes = 0;

  Status OpenFile() {
    WEIR_ASSIGN(std::string file, base.NewFile());
    files.push_back(std::move(file));
    writer.emplace(rocksdb::EnvOptions(base.options()), base.options(), nullptr, /*invalidate_page_cache=*/false);
    return BaseStatus(base.folder(), "make a file of a fold", writer->Open(files.back()));
  }

  Status CloseFile() {
    rocksdb::ExternalSstFileInfo info;
    const rocksdb::Status status = writer->Finish(&info);
    writer.reset();
    bytes += static_cast<int64_t>(info.file_size);
    return BaseStatus(base.folder(), "end a file of a fold", status);
  }

  Status WriteBucket() {
    changes.Sort();
    SortedRows::Row row = changes.size() > 0 ? changes.at(0) : SortedRows::Row{};
    for (size_t i = 0; i < changes.size(); ++i) {
      if (i + kPrefetchDistance < changes.size()) changes.Prefetch(i + kPrefetchDistance);
      const SortedRows::Row next = i + 1 < changes.size() ? changes.at(i + 1) : SortedRows::Row{};
      if (next.key != row.key && !(first && row.remove)) WEIR_TRY(Write(row));
      row = next;
    }
    changes.Clear();
    return {};
  }

  Status Write(const SortedRows::Row& row) {
    if (static_cast<size_t>(rows) % kRowsBetweenSizeChecks == 0 && writer && writer->FileSize() >= kFileBytes) {
      WEIR_TRY(CloseFile());
    }
    if (!writer) WEIR_TRY(OpenFile());
    ++rows;
    const rocksdb::Status status = row.remove ? writer->Delete(row.key) : writer->Put(row.key, row.rest);
    return BaseStatus(base.folder(), "write a row of a fold", status);
  }

  Status Close() {
    WEIR_TRY(WriteBucket());
    return writer ? CloseFile() : Status{};
  }

  Status Finish(std::string_view marker, std::span<const std::unique_ptr<Fold>> runs) {
    WEIR_TRY(WriteBucket());
    if (!writer) WEIR_TRY(OpenFile());
    WEIR_TRY(BaseStatus(base.folder(), "write the marker of a fold", writer->Put(rocksdb::Slice(kMarkerKey), marker)));
    WEIR_TRY(CloseFile());
    std::vector<std::string> all;
    for (const auto& run : runs) all.insert(all.end(), run->state_->files.begin(), run->state_->files.end());
    all.insert(all.end(), files.begin(), files.end());
    return base.Ingest(all);
  }

  // Runs a step; after one that failed there is no other.
  template <class Step>
  Status Run(const Step& step) {
    if (failed || over) return BaseError(base.folder(), "go on with a fold", "it has failed or is finished");
    Status status = Guarded(base.folder(), "fold", step);
    failed = !status.has_value();
    return status;
  }
};

Fold::Fold(TableBase& base, bool first_run) : state_(std::make_unique<State>(base, first_run)) {}

Fold::~Fold() {
  state_->writer.reset();
  // After an ingestion RocksDB has moved them.
  for (const std::string& file : state_->files) std::remove(file.c_str());
}

Status Fold::Add(int bucket, const LogEntry& entry) {
  WEIR_CHECK_LE(state_->bucket, bucket);
  WEIR_CHECK_LT(bucket, kMaxBuckets);
  return state_->Run([&]() -> Status {
    if (bucket != state_->bucket) {
      WEIR_TRY(state_->WriteBucket());
      state_->bucket = bucket;
    }
    state_->changes.Add(bucket, entry.group, entry.unique, entry.rest, entry.remove);
    return {};
  });
}

Status Fold::Close() {
  return state_->Run([&]() -> Status {
    WEIR_TRY(state_->Close());
    state_->over = true;
    return {};
  });
}

Status Fold::Finish(std::string_view marker, std::span<const std::unique_ptr<Fold>> runs) {
  return state_->Run([&]() -> Status {
    WEIR_TRY(state_->Finish(marker, runs));
    state_->over = true;
    return {};
  });
}

int64_t Fold::rows() const { return state_->rows; }
int64_t Fold::bytes() const { return state_->bytes; }

}  // namespace weir
