// Regular expressions by RE2: ~ and its variants, SIMILAR TO, regexp_like, regexp_replace, regexp_extract,
// regexp_count.
//
// A constant pattern is compiled when the expression is built, and an invalid one is an error there; a pattern from a
// column is compiled when it differs from the row before.  `.` matches a line break, as in PostgreSQL.
#include <re2/re2.h>

#include <algorithm>

#include "sql/expr/kernel.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;
using RegexPtr = std::shared_ptr<const RE2>;

re2::StringPiece Piece(View text) { return {text.data(), text.size()}; }

struct RegexOptions {
  bool ignore_case = false;
  bool whole_text = false;  // SIMILAR TO
};

// SQL's pattern as a regular expression: % and _ as in LIKE, | * + ? {} () [] as in regular expressions.
std::string FromSimilar(View pattern) {
  std::string out;
  bool in_set = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      out += RE2::QuoteMeta(Piece(pattern.substr(++i, 1)));
    } else if (in_set) {
      in_set = c != ']';
      out += c;
    } else if (c == '%') {
      out += ".*";
    } else if (c == '_') {
      out += '.';
    } else if (c == '.' || c == '^' || c == '$') {
      out += '\\';
      out += c;
    } else {
      in_set = c == '[';
      out += c;
    }
  }
  return out;
}

Result<RegexPtr> CompileRegex(View pattern, const RegexOptions& options) {
  RE2::Options flags;
  flags.set_log_errors(false);
  flags.set_dot_nl(true);
  flags.set_case_sensitive(!options.ignore_case);
  const std::string text = options.whole_text ? "^(?:" + FromSimilar(pattern) + ")$" : std::string(pattern);
  auto regex = std::make_shared<RE2>(Piece(text), flags);
  if (!regex->ok()) return PlanError("invalid regular expression '" + std::string(pattern) + "': " + regex->error());
  return RegexPtr(std::move(regex));
}

// The regular expression of a row: the constant one, or that of the text at hand.
class RowRegex {
 public:
  RowRegex(RegexPtr constant, RegexOptions options) : regex_(std::move(constant)), options_(options), fixed_(regex_) {}
  // Null when the pattern is invalid, which is then the row's failure.
  const RE2* For(View pattern, Failure& failure) {
    if (fixed_) return regex_.get();
    if (regex_ && pattern == pattern_) return regex_.get();
    auto compiled = CompileRegex(pattern, options_);
    if (!compiled) {
      failure.Set(compiled.error().message);
      return nullptr;
    }
    pattern_ = pattern;
    regex_ = std::move(*compiled);
    return regex_.get();
  }

 private:
  RegexPtr regex_;
  RegexOptions options_;
  bool fixed_;
  std::string pattern_;
};

// Compiles the pattern of arguments[1] if it is constant.
Result<RegexPtr> ConstantRegex(const Arguments& arguments, const RegexOptions& options) {
  if (!IsStringLiteral(*arguments[1])) return RegexPtr();
  return CompileRegex(LiteralText(*arguments[1]), options);
}

// The flags argument at `index`, which must be constant: i ignores case, g (regexp_replace) replaces all.
Result<std::string> FlagsAt(const Arguments& arguments, size_t index) {
  if (arguments.size() <= index) return std::string();
  if (!IsStringLiteral(*arguments[index]))
    return PlanError("the flags of a regular expression must be a constant text");
  std::string flags(LiteralText(*arguments[index]));
  if (flags.find_first_not_of("igcns") != std::string::npos) {
    return PlanError("invalid regular expression option: \"" + flags + "\"");
  }
  return flags;
}

Result<ExpressionPtr> MakeMatch(const std::string& name, Arguments arguments, RegexOptions options, bool negated) {
  WEIR_ASSIGN(arguments, Accept(name, "ss", std::move(arguments)));
  WEIR_ASSIGN(RegexPtr constant, ConstantRegex(arguments, options));
  const bool can_fail = constant == nullptr;
  Kernel kernel = [constant, options, negated](const KernelInput& input) {
    RowRegex regex(constant, options);
    return MapRows<uint8_t, View, View>(input, BooleanType(),
                                        [&](View text, View pattern, Failure& failure) -> uint8_t {
                                          const RE2* compiled = regex.For(pattern, failure);
                                          return compiled && RE2::PartialMatch(Piece(text), *compiled) != negated;
                                        });
  };
  return MakeKernelCall({name, BooleanType(), std::move(arguments), std::move(kernel), can_fail});
}

Result<ExpressionPtr> BindMatch(const std::string& name, Arguments arguments) {
  const bool similar = name.ends_with("SIMILAR TO");
  return MakeMatch(name, std::move(arguments), {name.ends_with("*"), similar}, name[0] == '!' || name[0] == 'N');
}

Result<ExpressionPtr> BindLike(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const std::string flags, FlagsAt(arguments, 2));
  arguments.resize(2);
  return MakeMatch(name, std::move(arguments), {flags.find('i') != std::string::npos, false}, false);
}

// regexp_extract(text, pattern[, group]) and substring(text from pattern): NULL when nothing matches.
Result<ExpressionPtr> BindExtract(const std::string& name, Arguments arguments) {
  // substring gives the first group if there is one, regexp_extract the whole match unless told.
  std::optional<int64_t> group = name == "regexp_extract" ? std::optional<int64_t>(0) : std::nullopt;
  if (arguments.size() == 3) {
    group = LiteralInt(*arguments[2]);
    if (!group || *group < 0 || *group > 99)
      return PlanError("the group of " + name + " must be a constant from 0 to 99");
    arguments.resize(2);
  }
  WEIR_ASSIGN(arguments, Accept(name, "ss", std::move(arguments)));
  WEIR_ASSIGN(RegexPtr constant, ConstantRegex(arguments, {}));
  if (constant && group && *group > constant->NumberOfCapturingGroups()) {
    return PlanError("the regular expression has no group " + std::to_string(*group));
  }
  const bool can_fail = constant == nullptr;
  Kernel kernel = [constant, group](const KernelInput& input) -> RowResult<ColumnPtr> {
    RowRegex regex(constant, {});
    std::vector<uint8_t> missing(input.rows, 0);
    std::vector<re2::StringPiece> groups;
    bool any_missing = false;
    auto out = StrictResult(input, StringType());
    const Reader<View> texts(input.arguments[0]);
    const Reader<View> patterns(input.arguments[1]);
    TextOutput writer(*out);
    for (size_t row = 0; row < input.rows; ++row) {
      View found;
      if (!out->IsNull(row)) {
        Failure failure;
        const RE2* compiled = regex.For(patterns[row], failure);
        if (!compiled) return FailRow(row, std::move(failure.message));
        const int index = group ? static_cast<int>(*group) : std::min(1, compiled->NumberOfCapturingGroups());
        groups.assign(static_cast<size_t>(index) + 1, {});
        const View text = texts[row];
        const bool matches = index <= compiled->NumberOfCapturingGroups() &&
                             compiled->Match(Piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(), index + 1);
        const bool there = matches && groups.back().data() != nullptr;
        missing[row] = !there;
        any_missing = any_missing || !there;
        if (there) found = {groups.back().data(), groups.back().size()};
      }
      if (!writer.Set(row, found)) return FailRow(row, "text too large");
    }
    if (any_missing) {
      uint8_t* nulls = out->mutable_nulls();
      for (size_t i = 0; i < input.rows; ++i) nulls[i] |= missing[i];
    }
    return ColumnPtr(std::move(out));
  };
  return MakeKernelCall({name, StringType(), std::move(arguments), std::move(kernel), can_fail});
}

// PostgreSQL's \& is RE2's \0.
std::string Rewrite(View replacement) {
  std::string out(replacement);
  for (size_t at = out.find('\\'); at != std::string::npos; at = out.find('\\', at + 2)) {
    if (at + 1 < out.size() && out[at + 1] == '&') out[at + 1] = '0';
  }
  return out;
}

Result<ExpressionPtr> BindReplace(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(const std::string flags, FlagsAt(arguments, 3));
  const bool all = flags.find('g') != std::string::npos;
  const RegexOptions options{flags.find('i') != std::string::npos, false};
  arguments.resize(3);
  WEIR_ASSIGN(arguments, Accept(name, "sss", std::move(arguments)));
  WEIR_ASSIGN(RegexPtr constant, ConstantRegex(arguments, options));
  Kernel kernel = [constant, options, all](const KernelInput& input) {
    RowRegex regex(constant, options);
    return MapText<View, View, View>(
        input, StringType(), [&](View text, View pattern, View replacement, std::string& out, Failure& failure) {
          const RE2* compiled = regex.For(pattern, failure);
          if (!compiled) return;
          const std::string rewrite = Rewrite(replacement);
          std::string error;
          if (!compiled->CheckRewriteString(Piece(rewrite), &error))
            return failure.Set("invalid replacement: " + error);
          out.assign(text);
          if (all) {
            RE2::GlobalReplace(&out, *compiled, Piece(rewrite));
          } else {
            RE2::Replace(&out, *compiled, Piece(rewrite));
          }
        });
  };
  return MakeKernelCall({name, StringType(), std::move(arguments), std::move(kernel), true});
}

Result<ExpressionPtr> BindCount(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "ss", std::move(arguments)));
  WEIR_ASSIGN(RegexPtr constant, ConstantRegex(arguments, {}));
  const bool can_fail = constant == nullptr;
  Kernel kernel = [constant](const KernelInput& input) {
    RowRegex regex(constant, {});
    return MapRows<int64_t, View, View>(input, IntType(), [&](View text, View pattern, Failure& failure) -> int64_t {
      const RE2* compiled = regex.For(pattern, failure);
      int64_t count = 0;
      re2::StringPiece found;
      for (size_t at = 0; compiled && at <= text.size();) {
        if (!compiled->Match(Piece(text), at, text.size(), RE2::UNANCHORED, &found, 1)) break;
        ++count;
        // An empty match moves on by one byte.
        at = static_cast<size_t>(found.data() - text.data()) + std::max<size_t>(found.size(), 1);
      }
      return count;
    });
  };
  return MakeKernelCall({name, IntType(), std::move(arguments), std::move(kernel), can_fail});
}

// The parser of PostgreSQL wraps the pattern of SIMILAR TO; here the operator itself converts it.
Result<ExpressionPtr> BindSimilarEscape(const std::string& name, Arguments arguments) {
  WEIR_ASSIGN(arguments, Accept(name, "s", std::move(arguments)));
  return arguments[0];
}

}  // namespace

std::span<const FunctionRule> RegexpRules() {
  static constexpr FunctionRule kRules[] = {
      {"~", 2, 2, BindMatch},
      {"~*", 2, 2, BindMatch},
      {"!~", 2, 2, BindMatch},
      {"!~*", 2, 2, BindMatch},
      {"SIMILAR TO", 2, 2, BindMatch},
      {"NOT SIMILAR TO", 2, 2, BindMatch},
      {"similar_to_escape", 1, 1, BindSimilarEscape},
      {"regexp_like", 2, 3, BindLike},
      {"regexp_extract", 2, 3, BindExtract},
      {"regexp_substr", 2, 2, BindExtract},
      {"regexp_replace", 3, 4, BindReplace},
      {"regexp_count", 2, 2, BindCount},
  };
  return kRules;
}

}  // namespace weir
