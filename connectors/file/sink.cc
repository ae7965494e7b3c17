// Writes the rows of each epoch and task to one part, which gets its final name when the epoch is complete.
//
// 1. Process creates the hidden part at the first row behind a barrier.  Its number is one above the last checkpoint's,
//    so the parts of two epochs in flight never have one name.
// 2. Snapshot takes the part out of the sink; the I/O pool writes the rest of its buffer and syncs file and folder.
//    From here on the sink does not touch it, and the next epoch's rows go to a new part.
// 3. OnCommit renames.  It needs only the folder and the commit data, so it runs beside Process without a lock.
#include <filesystem>

#include "connectors/file/options.h"
#include "connectors/file/part_writer.h"
#include "connectors/file/parts.h"

namespace weir {
namespace {

// The commit data of an epoch without rows.  Not empty, so that every checkpoint names the sink's tasks.
constexpr std::string_view kNoPart = "-";

class FileSink final : public Operator {
 public:
  FileSink(FileSinkOptions options, std::shared_ptr<const Encoder> encoder)
      : options_(std::move(options)), encoder_(std::move(encoder)) {}

  Status Open(const OperatorContext& context) override;
  Result<Progress> Process(int input, const Batch& batch, Output& out) override;
  Status Snapshot(SnapshotWriter& writer) override;
  Status Restore(const SnapshotReader& reader) override;
  Status OnCommit(Epoch, const std::string& commit_data) override { return PublishPart(options_.path, commit_data); }
  void Close() override { part_.reset(); }

 private:
  std::string_view extension() const { return options_.format == FormatKind::kCsv ? "csv" : "jsonl"; }
  Status CheckKinds(const Batch& batch) const;
  Status CreatePart();

  const FileSinkOptions options_;
  const std::shared_ptr<const Encoder> encoder_;
  Epoch next_number_ = 1;  // above the last checkpoint
  std::shared_ptr<PartWriter> part_;
  std::string part_name_;
  std::string text_;
  std::vector<size_t> ends_;
};

Status FileSink::Open(const OperatorContext& context) {
  WEIR_TRY(Operator::Open(context));
  std::error_code error;
  std::filesystem::create_directories(options_.path, error);
  if (error) return ConnectorError("cannot create the folder: " + error.message(), options_.path);
  return {};
}

Status FileSink::CheckKinds(const Batch& batch) const {
  if (options_.format == FormatKind::kChangelogJson) return {};
  for (const RowKind kind : batch.kinds()) {
    if (!IsAdd(kind)) {
      return DataError("a row is retracted, which the sink's format cannot say: use format: changelog_json",
                       options_.name);
    }
  }
  return {};
}

Status FileSink::CreatePart() {
  part_name_ = FormatPartName({next_number_, context().task, false}, extension());
  WEIR_ASSIGN(part_, PartWriter::Create(options_.path + "/" + part_name_));
  if (options_.format == FormatKind::kCsv) {
    part_->buffer() += CsvHeader(*options_.schema);
    part_->buffer() += '\n';
  }
  return {};
}

Result<Progress> FileSink::Process(int, const Batch& batch, Output&) {
  if (batch.rows() == 0) return Progress::kDone;
  WEIR_TRY(CheckKinds(batch));
  if (!part_) WEIR_TRY(CreatePart());
  text_.clear();
  ends_.clear();
  encoder_->Encode(batch, text_, ends_);
  std::string& buffer = part_->buffer();
  size_t from = 0;
  for (const size_t end : ends_) {
    buffer.append(text_, from, end - from);
    buffer += '\n';
    from = end;
  }
  WEIR_TRY(part_->WriteIfFull());
  return Progress::kDone;
}

Status FileSink::Snapshot(SnapshotWriter& writer) {
  next_number_ = writer.epoch() + 1;
  if (!part_) {
    writer.PutCommitData(std::string(kNoPart));
    return {};
  }
  const std::string finished = FormatPartName({writer.epoch(), context().task, true}, extension());
  writer.PutCommitData(FormatCommitData(part_name_, finished));
  writer.FinishLater([part = std::move(part_), folder = options_.path]() -> Status {
    WEIR_TRY(part->Finish());
    return SyncPartFolder(folder);
  });
  part_.reset();
  return {};
}

// One task does it for all, also for tasks that the job no longer has.  No task has written yet: the runtime restores
// every operator before the first row.
Status FileSink::Restore(const SnapshotReader& reader) {
  next_number_ = reader.epoch() + 1;
  if (context().task != 0) return {};
  for (const SnapshotReader::Part& part : reader.parts()) WEIR_TRY(PublishPart(options_.path, part.commit_data));
  return RemoveLeftovers(options_.path, reader.epoch());
}

}  // namespace

Result<std::unique_ptr<Operator>> MakeFileSink(const FileSinkOptions& options) {
  WEIR_ASSIGN(std::shared_ptr<const Encoder> encoder, MakeEncoder(options.format, options.schema));
  return std::make_unique<FileSink>(options, std::move(encoder));
}

Status PrepareFileSink(const std::string& path, bool force) {
  WEIR_ASSIGN(const std::vector<std::string> files, ListFolder(path));
  if (!force) {
    for (const std::string& file : files) {
      const auto name = ParsePartName(file);
      if (name && name->finished) {
        return ConfigError("the folder already has parts of another run (" + file + "); empty it, or use --force",
                           path);
      }
    }
  }
  for (const std::string& file : files) {
    // A hidden part of any shape is an unfinished one: of an older version, or cut short.
    if (!ParsePartName(file) && !(force && file.starts_with(".part-"))) continue;
    std::error_code error;
    std::filesystem::remove(path + "/" + file, error);
    if (error) return ConnectorError("cannot delete the part: " + error.message(), path + "/" + file);
  }
  return {};
}

}  // namespace weir
