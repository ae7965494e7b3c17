// LIKE, ILIKE and their negations.  A constant pattern is compiled when the expression is built.
#include <algorithm>

#include "sql/expr/kernel.h"
#include "sql/expr/like_matcher.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"
#include "sql/expr/utf8.h"

namespace weir {

Result<LikeMatcher> LikeMatcher::Compile(std::string_view pattern) {
  LikeMatcher matcher;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      if (++i == pattern.size()) return DataError("LIKE pattern must not end with escape character");
      matcher.elements_.push_back({Kind::kByte, pattern[i]});
    } else if (pattern[i] == '%') {
      const bool repeated = !matcher.elements_.empty() && matcher.elements_.back().kind == Kind::kAnyRun;
      if (!repeated) matcher.elements_.push_back({Kind::kAnyRun, 0});
    } else if (pattern[i] == '_') {
      matcher.elements_.push_back({Kind::kAnyCharacter, 0});
    } else {
      matcher.elements_.push_back({Kind::kByte, pattern[i]});
    }
  }
  matcher.ChooseShape();
  return matcher;
}

void LikeMatcher::ChooseShape() {
  const auto is_run = [](const Element& element) { return element.kind == Kind::kAnyRun; };
  const bool front = !elements_.empty() && is_run(elements_.front());
  const bool back = !elements_.empty() && is_run(elements_.back());
  if (elements_.size() == 1 && front) {
    shape_ = Shape::kAll;
    return;
  }
  for (size_t i = front ? 1 : 0; i < elements_.size() - (back ? 1 : 0); ++i) {
    if (elements_[i].kind != Kind::kByte) return;
    literal_ += elements_[i].byte;
  }
  shape_ = front && back ? Shape::kContains : front ? Shape::kSuffix : back ? Shape::kPrefix : Shape::kExact;
}

bool LikeMatcher::Matches(std::string_view text) const {
  switch (shape_) {
    case Shape::kAll:
      return true;
    case Shape::kExact:
      return text == literal_;
    case Shape::kPrefix:
      return text.starts_with(literal_);
    case Shape::kSuffix:
      return text.ends_with(literal_);
    case Shape::kContains:
      return text.find(literal_) != std::string_view::npos;
    case Shape::kGeneral:
      break;
  }
  return MatchesGeneral(text);
}

// Greedy with one point to return to: after a failure the last % takes one more character.
bool LikeMatcher::MatchesGeneral(std::string_view text) const {
  size_t at = 0;
  size_t element = 0;
  size_t run_element = elements_.size() + 1;
  size_t run_at = 0;
  while (at < text.size()) {
    const bool more = element < elements_.size();
    if (more && elements_[element].kind == Kind::kAnyRun) {
      run_element = element++;
      run_at = at;
    } else if (more && elements_[element].kind == Kind::kAnyCharacter) {
      at += CharacterBytes(text.substr(at));
      ++element;
    } else if (more && elements_[element].byte == text[at]) {
      ++at;
      ++element;
    } else if (run_element < elements_.size()) {
      run_at += CharacterBytes(text.substr(run_at));
      at = run_at;
      element = run_element + 1;
    } else {
      return false;
    }
  }
  while (element < elements_.size() && elements_[element].kind == Kind::kAnyRun) ++element;
  return element == elements_.size();
}

namespace {

void AppendFolded(std::string_view text, std::string& out) {
  for (; !text.empty(); text.remove_prefix(CharacterBytes(text))) {
    const int32_t c = DecodeCharacter(text);
    AppendCharacter(ToLower(c), out);
  }
}

std::string Folded(std::string_view text) {
  std::string out;
  AppendFolded(text, out);
  return out;
}

Kernel ConstantLikeKernel(LikeMatcher matcher, bool ignore_case, bool negated) {
  return [matcher = std::move(matcher), ignore_case, negated](const KernelInput& input) {
    std::string scratch;
    return MapRows<uint8_t, std::string_view>(input, BooleanType(), [&](std::string_view text) -> uint8_t {
      if (ignore_case) {
        scratch.clear();
        AppendFolded(text, scratch);
        text = scratch;
      }
      return matcher.Matches(text) != negated;
    });
  };
}

Kernel LikeKernel(bool ignore_case, bool negated) {
  return [ignore_case, negated](const KernelInput& input) {
    using View = std::string_view;
    return MapRows<uint8_t, View, View>(
        input, BooleanType(), [&](View text, View pattern, Failure& failure) -> uint8_t {
          const auto matcher = LikeMatcher::Compile(ignore_case ? Folded(pattern) : std::string(pattern));
          if (!matcher) {
            failure.Set(matcher.error().message);
            return 0;
          }
          return matcher->Matches(ignore_case ? Folded(text) : text) != negated;
        });
  };
}

Result<ExpressionPtr> BindLike(const std::string& name, std::vector<ExpressionPtr> arguments) {
  const bool negated = name.starts_with("NOT") || name.starts_with("!");
  const bool ignore_case = name.ends_with("ILIKE") || name.ends_with("*");
  for (const ExpressionPtr& argument : arguments) {
    const bool text = argument->type().kind == TypeKind::kString || IsNullLiteral(*argument);
    if (!text) return NoSuchOperator(name, arguments);
  }
  WEIR_ASSIGN(arguments, Accept(name, "ss", std::move(arguments)));
  const std::string shown = std::string(negated ? "NOT " : "") + (ignore_case ? "ILIKE" : "LIKE");
  if (!IsStringLiteral(*arguments[1])) {
    return MakeKernelCall({shown, BooleanType(), std::move(arguments), LikeKernel(ignore_case, negated), true});
  }
  const std::string pattern(LiteralText(*arguments[1]));
  auto matcher = LikeMatcher::Compile(ignore_case ? Folded(pattern) : pattern);
  if (!matcher) return PlanError(matcher.error().message);
  // The pattern stays an argument: it is printed and compared, and a NULL on the left stays a NULL.
  Kernel kernel = ConstantLikeKernel(std::move(*matcher), ignore_case, negated);
  return MakeKernelCall({shown, BooleanType(), std::move(arguments), std::move(kernel)});
}

}  // namespace

std::span<const FunctionRule> PatternRules() {
  static constexpr FunctionRule kRules[] = {
      {"LIKE", 2, 2, BindLike}, {"NOT LIKE", 2, 2, BindLike}, {"ILIKE", 2, 2, BindLike}, {"NOT ILIKE", 2, 2, BindLike},
      {"~~", 2, 2, BindLike},   {"!~~", 2, 2, BindLike},      {"~~*", 2, 2, BindLike},   {"!~~*", 2, 2, BindLike},
  };
  return kRules;
}

}  // namespace weir
