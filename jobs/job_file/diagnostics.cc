#include "jobs/job_file/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace weir {
void Diagnostics::Add(const FilePosition& position, std::string message) {
  entries_.push_back({position, std::move(message)});
}

std::vector<Error> Diagnostics::Errors() const {
  std::vector<Entry> sorted = entries_;
  const auto key = [](const Entry& e) { return std::tie(e.position.origin, e.position.line, e.position.column); };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  std::vector<Error> errors;
  for (const Entry& entry : sorted) {
    std::string where = entry.position.origin;
    if (where.empty()) {
      where =
          entry.position.line > 0 ? fmt::format("{}:{}:{}", file_, entry.position.line, entry.position.column) : file_;
    }
    const bool repeated = !errors.empty() && errors.back().where == where && errors.back().message == entry.message;
    if (!repeated) errors.push_back(ConfigError(entry.message, std::move(where)));
  }
  return errors;
}

}  // namespace weir
