// Writes a kind's rows as JSON lines, byte for byte what the public benchmark's generator writes.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include "connectors/generator/attribution.h"
#include "connectors/generator/columns.h"
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

void AppendOrder(const OrderLaw& law, const std::vector<std::string>& days, int64_t row, std::string& out) {
  const int64_t at = law.AtMs(row);
  const int64_t cents = law.Cents(row);
  fmt::format_to(
      std::back_inserter(out), "{{\"order_id\":{},\"user_id\":{},\"amount\":{}.{:02},\"ts\":{},\"ds\":\"{}\"}}\n",
      row + 1, law.User(row), cents / 100, cents % 100, kGeneratorStartMs + at, days[static_cast<size_t>(at / kDayMs)]);
}

void AppendVisit(const VisitLaw& law, const std::vector<std::string>& days, int64_t row, std::string& out) {
  const int64_t at = law.AtMs(row);
  fmt::format_to(
      std::back_inserter(out),
      "{{\"visit_id\":{},\"user_id\":{},\"channel\":\"{}\",\"page\":\"/item/{}\",\"ts\":{},\"ds\":\"{}\"}}\n", row + 1,
      law.User(row), kChannels[law.Channel(row)], law.Page(row), kGeneratorStartMs + at,
      days[static_cast<size_t>(at / kDayMs)]);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

template <class Append>
Status WriteLines(const std::string& path, int64_t rows, Append append) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "w"));
  if (!file) return ConnectorError(std::string("cannot create the file: ") + std::strerror(errno), path);
  std::string text;
  for (int64_t row = 0; row < rows; ++row) {
    append(row, text);
    if (text.size() < (size_t{1} << 18) && row + 1 < rows) continue;
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

Status GenerateFiles(const GeneratorOptions& options, const std::string& folder) {
  if (const auto checked = MakeGeneratedColumns(options); !checked) return Error(checked.error());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ConnectorError("cannot create the folder: " + error.message(), folder);
  const std::vector<std::string> days = DayTexts(options.days);
  const std::string path = folder + "/" + options.kind + ".jsonl";
  if (options.kind == "orders") {
    const OrderLaw law(options);
    return WriteLines(path, options.rows, [&](int64_t row, std::string& out) { AppendOrder(law, days, row, out); });
  }
  const VisitLaw law(options);
  return WriteLines(path, options.rows, [&](int64_t row, std::string& out) { AppendVisit(law, days, row, out); });
}

}  // namespace weir
