#include "jobs/compare/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/plan/suggest.h"

namespace weir {
namespace {

struct Known {
  const char* name;
  const char* join;
  const char* state;
};
constexpr Known kKnown[] = {{"regular-memory", "regular", "memory"},
                            {"regular-rocksdb", "regular", "rocksdb"},
                            // The tables hold the join's rows; what is left in operators stays in memory.
                            {"delta", "delta", "memory"}};

const Known* Find(const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
  return found == std::end(kKnown) ? nullptr : found;
}

// Splits at commas that stand outside quotes and brackets.
std::vector<std::string> SplitValues(const std::string& text) {
  std::vector<std::string> values(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      values.emplace_back();
      continue;
    }
    values.back() += c;
  }
  return values;
}

}  // namespace

std::vector<std::string> KnownVariants() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

Result<std::vector<Variant>> MakeVariants(const std::string& job, const std::vector<std::string>& names,
                                          const std::vector<std::string>& overrides) {
  std::vector<Variant> variants;
  for (const std::string& name : names) {
    const Known* known = Find(name);
    if (known == nullptr) {
      return ConfigError(fmt::format("there is no variant '{}'{}; there are {}", name,
                                     DidYouMean(name, KnownVariants()), fmt::join(KnownVariants(), ", ")));
    }
    if (std::any_of(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; })) {
      return ConfigError(fmt::format("variant {} is given twice", name));
    }
    Variant variant{name, job, overrides};
    variant.overrides.push_back(fmt::format("options.join={}", known->join));
    variant.overrides.push_back(fmt::format("options.state={}", known->state));
    variants.push_back(std::move(variant));
  }
  if (variants.empty()) return ConfigError("a comparison needs a variant");
  return variants;
}

Result<SweepKey> ParseSweep(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return ConfigError(fmt::format("--sweep {}: expected KEY=V1,V2,..., for example sources.*.users=1000,10000", text));
  }
  SweepKey sweep{text.substr(0, equals), SplitValues(text.substr(equals + 1))};
  for (size_t i = 0; i < sweep.values.size(); ++i) {
    const std::string& value = sweep.values[i];
    if (value.empty()) return ConfigError(fmt::format("--sweep {}: a value is empty", text));
    if (std::find(sweep.values.begin(), sweep.values.begin() + static_cast<ptrdiff_t>(i), value) !=
        sweep.values.begin() + static_cast<ptrdiff_t>(i)) {
      return ConfigError(fmt::format("--sweep {}: the value {} is given twice", text, value));
    }
  }
  return sweep;
}

}  // namespace weir
