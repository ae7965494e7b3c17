// Writes a kind's rows as JSON lines.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "connectors/generator/behaviour.h"
#include "connectors/generator/columns.h"
#include "connectors/generator/lines.h"
#include "connectors/generator/nexmark_law.h"
#include "engine/data/text.h"

namespace weir {
namespace {

std::vector<std::string> DayTexts(int days) {
  std::vector<std::string> out(static_cast<size_t>(days));
  for (size_t day = 0; day < out.size(); ++day) {
    AppendDate(kGeneratorStartMs / kDayMs + static_cast<int64_t>(day), out[day]);
  }
  return out;
}

void AppendRow(const OrderLaw& law, int64_t row, const std::string& day, std::string& out) {
  const int64_t cents = law.Cents(row);
  fmt::format_to(std::back_inserter(out), R"({{"order_id":{},"user_id":{},"amount":{}.{:02},"ts":{},"ds":"{}"}})",
                 row + 1, law.User(row), cents / 100, cents % 100, kGeneratorStartMs + law.AtMs(row), day);
}

void AppendRow(const VisitLaw& law, int64_t row, const std::string& day, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"visit_id":{},"user_id":{},"channel":"{}","page":"/item/{}","ts":{},"ds":"{}"}})", row + 1,
                 law.User(row), kChannels[law.Channel(row)], law.Page(row), kGeneratorStartMs + law.AtMs(row), day);
}

void AppendRow(const BehaviourLaw& law, int64_t row, const std::string& day, std::string& out) {
  char user[kLongestUser];
  char* const end = WriteUser(law.User(row), user);
  const int64_t cents = law.Cents(row);
  fmt::format_to(std::back_inserter(out),
                 R"({{"event_id":{},"user_id":"{}","item_id":{},"store_id":{},"behaviour":"{}","page":"{}",)"
                 R"("amount":{}.{:02},"ts":{},"ds":"{}"}})",
                 row + 1, std::string_view(user, static_cast<size_t>(end - user)), law.Item(row), law.Store(row),
                 kBehaviours[law.Behaviour(row)], BehaviourPage(law.Page(row)), cents / 100, cents % 100,
                 kGeneratorStartMs + law.AtMs(row), day);
}

template <class Law>
class Lines final : public GeneratedLines {
 public:
  explicit Lines(const GeneratorOptions& options) : law_(options), days_(DayTexts(options.days)), rows_(options.rows) {}

  bool Append(std::string& out) override {
    if (row_ >= rows_) return false;
    AppendRow(law_, row_, days_[static_cast<size_t>(law_.AtMs(row_) / kDayMs)], out);
    ++row_;
    return true;
  }

 private:
  const Law law_;
  const std::vector<std::string> days_;
  const int64_t rows_;
  int64_t row_ = 0;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Status WriteLines(const std::string& path, GeneratedLines& lines) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "w"));
  if (!file) return ConnectorError(std::string("cannot create the file: ") + std::strerror(errno), path);
  std::string text;
  for (bool more = true; more;) {
    more = lines.Append(text);
    if (more) text += '\n';
    if (text.size() < (size_t{1} << 18) && more) continue;
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
      return ConnectorError(std::string("cannot write: ") + std::strerror(errno), path);
    }
    text.clear();
  }
  if (std::fclose(file.release()) != 0) {
    return ConnectorError(std::string("cannot write: ") + std::strerror(errno), path);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<GeneratedLines>> MakeGeneratedLines(const GeneratorOptions& options) {
  if (options.kind.starts_with("nexmark.")) return MakeNexmarkLines(options);
  // Refuses what is no kind.
  if (const auto checked = MakeGeneratedColumns(options); !checked) return Error(checked.error());
  if (options.kind == "orders") return std::make_unique<Lines<OrderLaw>>(options);
  if (options.kind == "visits") return std::make_unique<Lines<VisitLaw>>(options);
  return std::make_unique<Lines<BehaviourLaw>>(options);
}

Status GenerateFiles(const GeneratorOptions& options, const std::string& folder) {
  std::vector<std::string> names = {options.kind};  // of files
  if (options.kind == "nexmark") names.assign(kNexmarkStreams.begin(), kNexmarkStreams.end());
  for (const std::string& name : names) {
    GeneratorOptions file = options;
    if (options.kind == "nexmark") file.kind = "nexmark." + name;
    WEIR_ASSIGN(const std::unique_ptr<GeneratedLines> lines, MakeGeneratedLines(file));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return ConnectorError("cannot create the folder: " + error.message(), folder);
    WEIR_TRY(WriteLines(folder + "/" + name + ".jsonl", *lines));
  }
  return {};
}

}  // namespace weir
