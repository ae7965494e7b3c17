#include "jobs/job_file/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weir {
namespace {

// Levenshtein's distance, with a transposition of neighbours as one step.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

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
      where = entry.position.line > 0
                  ? fmt::format("{}:{}:{}", file_, entry.position.line, entry.position.column)
                  : file_;
    }
    const bool repeated = !errors.empty() && errors.back().where == where && errors.back().message == entry.message;
    if (!repeated) errors.push_back(ConfigError(entry.message, std::move(where)));
  }
  return errors;
}

std::string NearestWord(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string* best = nullptr;
  size_t best_distance = word.size() / 3 + 2;  // further away is another word
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best ? *best : std::string();
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = NearestWord(word, candidates);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

}  // namespace weir
