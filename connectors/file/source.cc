// Reads the files of a glob one after the other, in the order of their names.
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "connectors/decode/message_rows.h"
#include "connectors/file/csv_header.h"
#include "connectors/file/options.h"
#include "connectors/file/record_reader.h"

namespace weir {
namespace {

struct Place {
  int64_t byte = 0;
  int64_t line = 0;  // lines before `byte`
};

std::optional<Place> ParsePlace(std::string_view text) {
  Place place;
  const char* const end = text.data() + text.size();
  auto [at, fault] = std::from_chars(text.data(), end, place.byte);
  if (fault != std::errc() || at == end || *at != ':') return std::nullopt;
  const auto [last, line_fault] = std::from_chars(at + 1, end, place.line);
  if (line_fault != std::errc() || last != end || place.byte < 0 || place.line < 0) return std::nullopt;
  return place;
}

// Sorted by bytes, whatever the locale says, so that a restart sees the same order.
Result<std::vector<std::string>> FindFiles(const std::string& pattern) {
  glob_t found{};
  const int failed = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files;
  for (size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(found.gl_pathv[i], ignored)) files.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  std::sort(files.begin(), files.end());
  if (files.empty()) return ConfigError("no file matches '" + pattern + "'");
  return files;
}

class FileSource final : public Source {
 public:
  explicit FileSource(FileSourceOptions options) : options_(std::move(options)) {}

  Status Open(const SourceContext& context, const Positions& restored) override;
  Result<SourceState> Poll(SourceOutput& out) override;
  Positions CurrentPositions() const override;
  std::vector<std::string> Partitions() const override;
  std::string Describe(const RowPosition& position) const override {
    return fmt::format("{}:{}", files_[position.partition].path, position.offset);
  }

 private:
  struct File {
    std::string path;
    Place place;
  };

  bool csv() const { return options_.decoder.format == FormatKind::kCsv; }
  Status OpenFile();
  Result<std::unique_ptr<MessageRows>> MakeRows(const DecoderOptions& decoder);
  Status ReadRecords();

  const FileSourceOptions options_;
  SourceContext context_;
  std::vector<File> files_;
  size_t current_ = 0;
  std::unique_ptr<RecordReader> reader_;
  std::unique_ptr<MessageRows> rows_;
  std::vector<FileRecord> records_;
  std::vector<RawMessage> messages_;
};

Status FileSource::Open(const SourceContext& context, const Positions& restored) {
  context_ = context;
  WEIR_ASSIGN(const std::vector<std::string> found, FindFiles(options_.path));
  for (const auto& [path, position] : restored) {
    if (!std::binary_search(found.begin(), found.end(), path)) {
      return StateError("the checkpoint was reading this file at " + position + ", but it is gone", path);
    }
  }
  for (size_t i = static_cast<size_t>(context.task); i < found.size(); i += static_cast<size_t>(context.parallelism)) {
    File file{found[i], {}};
    if (const auto at = restored.find(found[i]); at != restored.end()) {
      const auto place = ParsePlace(at->second);
      if (!place) return StateError("'" + at->second + "' is not a position of a file source", found[i]);
      file.place = *place;
    }
    files_.push_back(std::move(file));
  }
  if (!csv() || !options_.decoder.csv_header) {
    WEIR_ASSIGN(rows_, MakeRows(options_.decoder));
  }
  return {};
}

Result<std::unique_ptr<MessageRows>> FileSource::MakeRows(const DecoderOptions& decoder) {
  WEIR_ASSIGN(auto rows, MessageRows::Make(decoder, options_.on_error,
                                           [this](const RowPosition& position) { return Describe(position); }));
  rows->set_metrics(context_.metrics);
  return rows;
}

Status FileSource::OpenFile() {
  File& file = files_[current_];
  if (csv() && options_.decoder.csv_header) {
    WEIR_ASSIGN(const auto header_reader, RecordReader::Open(file.path, true, 0, 0));
    WEIR_TRY(header_reader->Next(1, records_));
    if (!records_.empty()) {
      auto decoder = ForCsvHeader(options_.decoder, records_.front().text);
      if (!decoder) return Error{decoder.error().code, decoder.error().message, file.path + ":1"};
      WEIR_ASSIGN(rows_, MakeRows(*decoder));
    }
    if (file.place.byte == 0) file.place = {header_reader->byte(), header_reader->line()};
  }
  WEIR_ASSIGN(reader_, RecordReader::Open(file.path, csv(), file.place.byte, file.place.line));
  return {};
}

// Decodes the next records of the open file; none are left when `records_` is empty afterwards.
Status FileSource::ReadRecords() {
  File& file = files_[current_];
  WEIR_TRY(reader_->Next(kBatchRows, records_));
  if (context_.metrics != nullptr) {
    context_.metrics->input_bytes.fetch_add(reader_->byte() - file.place.byte, std::memory_order_relaxed);
  }
  file.place = {reader_->byte(), reader_->line()};
  if (records_.empty()) return {};
  messages_.resize(records_.size());
  for (size_t i = 0; i < records_.size(); ++i) {
    RawMessage& message = messages_[i];
    message.value = records_[i].text;
    message.partition = static_cast<uint32_t>(current_);
    message.partition_id = static_cast<int32_t>(current_);
    message.offset = records_[i].line;
  }
  return rows_->Add(messages_);
}

Result<SourceState> FileSource::Poll(SourceOutput& out) {
  while (current_ < files_.size()) {
    if (!reader_) WEIR_TRY(OpenFile());
    WEIR_TRY(ReadRecords());
    if (records_.empty()) {
      reader_.reset();
      out.MarkEnded(current_++);
      continue;
    }
    if (rows_->rows() > 0) out.Emit(rows_->Take());
    return SourceState::kRunning;
  }
  return SourceState::kEnded;
}

Positions FileSource::CurrentPositions() const {
  Positions out;
  for (const File& file : files_) out[file.path] = fmt::format("{}:{}", file.place.byte, file.place.line);
  return out;
}

std::vector<std::string> FileSource::Partitions() const {
  std::vector<std::string> out;
  out.reserve(files_.size());
  for (const File& file : files_) out.push_back(file.path);
  return out;
}

}  // namespace

Result<std::unique_ptr<Source>> MakeFileSource(const FileSourceOptions& options) {
  return std::make_unique<FileSource>(options);
}

}  // namespace weir
