#include "jobs/replay/replay_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "engine/data/text.h"
#include "jobs/replay/replay_json.h"
#include "jobs/replay/replay_value.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

constexpr int kMaxPartition = 1023;

class ReplayParser {
 public:
  ReplayParser(const std::string& path, const JobFile& job) : job_(job) {
    file_.path = path;
    for (const SourceDeclaration& source : job.sources) {
      builders_.emplace_back(std::make_shared<Schema>(source.MakeSchema()));
      const bool generated = source.connector == SourceConnector::kGenerator;
      file_.partitions.push_back(generated ? 1 : source.partitions);
      next_offset_.emplace_back();
    }
  }

  Status Line(std::string_view text, int line) {
    line_ = line;
    std::string problem;
    const auto json = ParseReplayJson(text, problem);
    if (!json) return Fail(problem);
    if (json->kind == ReplayJson::Kind::kObject) return Message(*json);
    if (json->kind == ReplayJson::Kind::kArray) return Array(*json);
    return Fail("a line is an array (a row) or an object (a message)");
  }

  ReplayFile Finish() {
    for (BatchBuilder& builder : builders_) file_.rows.push_back(builder.Build());
    return std::move(file_);
  }

 private:
  Error Fail(std::string message) const {
    return DataError(std::move(message), fmt::format("{}:{}", file_.path, line_));
  }

  // "orders@1": the source and its partition.
  Status Name(const std::string& name, ReplayEvent& event) {
    const size_t at = name.rfind('@');
    const std::string source = name.substr(0, at);
    if (at != std::string::npos) {
      const char* end = name.data() + name.size();
      const auto [stop, error] = std::from_chars(name.data() + at + 1, end, event.partition);
      if (error != std::errc() || stop != end) return Fail(fmt::format("'{}' is no partition", name.substr(at + 1)));
    }
    return Source(source, event);
  }

  Status Source(const std::string& name, ReplayEvent& event) {
    std::vector<std::string> names;
    for (size_t i = 0; i < job_.sources.size(); ++i) {
      if (job_.sources[i].name == name) event.source = static_cast<int>(i);
      names.push_back(job_.sources[i].name);
    }
    if (event.source < 0) return Fail(fmt::format("the job has no source {}{}", name, DidYouMean(name, names)));
    if (event.partition < 0 || event.partition > kMaxPartition) {
      return Fail(fmt::format("partition {} is out of range (0 to {})", event.partition, kMaxPartition));
    }
    int& partitions = file_.partitions[static_cast<size_t>(event.source)];
    partitions = std::max(partitions, event.partition + 1);
    return {};
  }

  Status Array(const ReplayJson& json) {
    const auto is_text = [&](size_t i) { return json.items[i].kind == ReplayJson::Kind::kString; };
    if (json.items.size() < 2 || !is_text(0) || !is_text(1)) {
      return Fail("a row is [\"source\", \"+I\", value, ...]");
    }
    ReplayEvent event;
    event.line = line_;
    const std::string& op = json.items[1].text;
    if (json.items[0].text == "*") {
      if (op != "batch" && op != "checkpoint") return Fail(fmt::format("there is no [\"*\", \"{}\"]", op));
      event.kind = op == "batch" ? ReplayEvent::Kind::kBatch : ReplayEvent::Kind::kCheckpoint;
      file_.events.push_back(event);
      return {};
    }
    WEIR_TRY(Name(json.items[0].text, event));
    if (op == "idle") {
      event.kind = ReplayEvent::Kind::kIdle;
      file_.events.push_back(event);
      return {};
    }
    const auto kind = ParseRowKind(op);
    if (!kind) return Fail(fmt::format("'{}' is no row kind; they are +I, -U, +U and -D", op));
    return Row(json, *kind, event);
  }

  Status Row(const ReplayJson& json, RowKind kind, ReplayEvent event) {
    const SourceDeclaration& source = job_.sources[static_cast<size_t>(event.source)];
    const size_t given = json.items.size() - 2;
    const size_t columns = source.columns.size();
    // A delete may carry the key alone when the key comes first.
    if (given > columns || (given < columns && kind != RowKind::kDelete)) {
      return Fail(fmt::format("source {} has {} columns, the row has {} values", source.name, columns, given));
    }
    if (source.changelog == ChangelogMode::kAppend && kind != RowKind::kInsert) {
      return Fail(fmt::format("source {} has changelog: append, which takes +I only", source.name));
    }
    if (source.changelog == ChangelogMode::kUpsert && kind == RowKind::kUpdateBefore) {
      return Fail(fmt::format("source {} has changelog: upsert, which has no -U", source.name));
    }
    BatchBuilder& builder = builders_[static_cast<size_t>(event.source)];
    static const ReplayJson kNothing;
    for (size_t i = 0; i < columns; ++i) {
      const ReplayJson& value = i < given ? json.items[i + 2] : kNothing;
      const Status status = AppendReplayValue(value, builder.column(i));
      if (!status) return Fail(fmt::format("column {}: {}", source.columns[i].name, status.error().message));
      const auto& key = source.primary_key;
      const bool is_key = std::find(key.begin(), key.end(), static_cast<int>(i)) != key.end();
      if (is_key && value.kind == ReplayJson::Kind::kNull) event.null_key = static_cast<int>(i);
    }
    builder.FinishRow(kind);
    event.kind = ReplayEvent::Kind::kRow;
    event.index = builder.rows() - 1;
    file_.events.push_back(event);
    return {};
  }

  Result<int64_t> Integer(const ReplayJson& value, const char* key, int64_t min, int64_t max) {
    const auto parsed = ParseInteger(value.text, min, max);
    if (value.kind != ReplayJson::Kind::kNumber || !parsed) {
      return Fail(fmt::format("{}: '{}' is no such number", key, value.text));
    }
    return parsed.value;
  }

  // The text of `name`, or the bytes of `name`_b64.  Absent and null are empty.
  Result<std::optional<std::string>> Bytes(const ReplayJson& json, const std::string& name) {
    if (const ReplayJson* encoded = json.Find(name + "_b64")) {
      auto bytes = ParseBase64(encoded->text);
      if (encoded->kind != ReplayJson::Kind::kString || !bytes) return Fail(name + "_b64 is not base64");
      return std::optional<std::string>(std::move(*bytes));
    }
    const ReplayJson* text = json.Find(name);
    if (text == nullptr || text->kind == ReplayJson::Kind::kNull) return std::optional<std::string>();
    if (text->kind != ReplayJson::Kind::kString) return Fail(name + " must be text");
    return std::optional<std::string>(text->text);
  }

  Status Message(const ReplayJson& json) {
    static const std::vector<std::string> kKeys = {"topic",     "partition", "offset",  "value",
                                                   "value_b64", "key",       "key_b64", "timestamp"};
    for (const auto& [key, value] : json.members) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        return Fail(fmt::format("a message has no {}{}", key, DidYouMean(key, kKeys)));
      }
    }
    const ReplayJson* topic = json.Find("topic");
    if (topic == nullptr || topic->kind != ReplayJson::Kind::kString)
      return Fail("a message needs a topic: the source");
    ReplayEvent event;
    event.kind = ReplayEvent::Kind::kMessage;
    event.line = line_;
    if (const ReplayJson* partition = json.Find("partition")) {
      WEIR_ASSIGN(const int64_t number, Integer(*partition, "partition", 0, kMaxPartition));
      event.partition = static_cast<int>(number);
    }
    WEIR_TRY(Source(topic->text, event));
    ReplayMessage message;
    if (json.Find("value") == nullptr && json.Find("value_b64") == nullptr) {
      return Fail("a message needs a value; \"value\": null is a tombstone");
    }
    WEIR_ASSIGN(auto value, Bytes(json, "value"));
    message.tombstone = !value.has_value();
    message.value = value.value_or("");
    WEIR_ASSIGN(message.key, Bytes(json, "key"));
    if (const ReplayJson* timestamp = json.Find("timestamp")) {
      if (timestamp->kind != ReplayJson::Kind::kNull) {
        WEIR_ASSIGN(message.timestamp_ms, Integer(*timestamp, "timestamp", -1, INT64_MAX));
      }
    }
    auto& offsets = next_offset_[static_cast<size_t>(event.source)];
    offsets.resize(std::max(offsets.size(), static_cast<size_t>(event.partition) + 1));
    message.offset = offsets[static_cast<size_t>(event.partition)];
    if (const ReplayJson* offset = json.Find("offset")) {
      WEIR_ASSIGN(message.offset, Integer(*offset, "offset", 0, INT64_MAX - 1));
    }
    offsets[static_cast<size_t>(event.partition)] = message.offset + 1;
    event.index = file_.messages.size();
    file_.messages.push_back(std::move(message));
    file_.events.push_back(event);
    return {};
  }

  const JobFile& job_;
  ReplayFile file_;
  std::vector<BatchBuilder> builders_;
  std::vector<std::vector<int64_t>> next_offset_;  // source, partition: of messages that do not say theirs
  int line_ = 0;
};

}  // namespace

Result<ReplayFile> ParseReplayFile(const std::string& path, std::string_view text, const JobFile& job) {
  ReplayParser parser(path, job);
  int number = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, end - from);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) WEIR_TRY(parser.Line(line, number));
    from = end + 1;
  }
  return parser.Finish();
}

Result<ReplayFile> ReadReplayFile(const std::string& path, const JobFile& job) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file && !file.eof()) return ConfigError("cannot read the replay file", path);
  return ParseReplayFile(path, text.str(), job);
}

}  // namespace weir
