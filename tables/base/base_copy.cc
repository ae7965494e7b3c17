// SST files never change and may be shared; MANIFEST, CURRENT and the like are written further and must be copied.
#include "tables/base/base_copy.h"

#include <rocksdb/utilities/checkpoint.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>

#include "engine/base/file.h"
#include "tables/base/rocksdb_edge.h"
#include "tables/base/table_base.h"

namespace weir {
namespace {

std::string ParentOf(const std::string& path) {
  const auto parent = std::filesystem::absolute(std::filesystem::path(path) / "").parent_path().parent_path();
  return parent.string();
}

Status LinkOrCopy(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (from.extension() == ".sst") {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    return BaseError(to.string(), fmt::format("link {}", from.string()), std::strerror(errno));
  }
  WEIR_ASSIGN(const std::string content, ReadFile(from.string()));
  return WriteFileDurably(to.string(), content);
}

Status Restore(const std::string& linked, const std::string& folder) {
  // The new folder is made beside the old one, so that nobody ever opens half of it.
  const std::string made = folder + ".restoring";
  WEIR_TRY(RemoveTree(made));
  WEIR_TRY(MakeFolder(made));
  for (const auto& file : std::filesystem::directory_iterator(linked)) {
    if (!file.is_regular_file() || file.path().filename() == "LOCK") continue;
    WEIR_TRY(LinkOrCopy(file.path(), std::filesystem::path(made) / file.path().filename()));
  }
  WEIR_TRY(SyncFolder(made));
  WEIR_TRY(RemoveTree(folder));
  std::filesystem::rename(made, folder);
  return SyncFolder(ParentOf(folder));
}

}  // namespace

Status LinkDatabase(rocksdb::DB& database, const std::string& folder, const std::string& path) {
  rocksdb::Checkpoint* made = nullptr;
  const rocksdb::Status status = rocksdb::Checkpoint::Create(&database, &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  WEIR_TRY(BaseStatus(folder, "make a copy", status));
  const std::string parent = ParentOf(path);
  WEIR_TRY(MakeFolder(parent));
  // Nothing is flushed, since rows come by ingestion only: a flush would wait until there are few files at level 0.
  constexpr uint64_t kFlushFromBytes = std::numeric_limits<uint64_t>::max();
  WEIR_TRY(BaseStatus(folder, fmt::format("make a copy in {}", path),
                      checkpoint->CreateCheckpoint(path, kFlushFromBytes)));
  return SyncFolder(parent);
}

Status TableBase::RestoreFrom(const std::string& linked, const std::string& folder) {
  return Guarded(folder, fmt::format("restore from {}", linked), [&] { return Restore(linked, folder); });
}

}  // namespace weir
