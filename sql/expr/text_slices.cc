// Text functions whose result is a part of their first argument (no byte is copied), or a number about it.
#include <algorithm>

#include "sql/expr/kernel.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"
#include "sql/expr/utf8.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;

// A strict call of `kernel` whose arguments are converted as `parameters` says.
Result<ExpressionPtr> Bind(const std::string& name, View parameters, Arguments arguments, DataType type, Kernel kernel,
                           bool can_fail = false) {
  WEIR_ASSIGN(Arguments accepted, Accept(name, parameters, std::move(arguments)));
  return MakeKernelCall({name, type, std::move(accepted), std::move(kernel), can_fail});
}

// Characters [from, from + count) counted from 1; positions before the first take from the count, as in PostgreSQL.
View Characters(View text, int64_t from, int64_t count) {
  int64_t end = 0;
  if (__builtin_add_overflow(from, count, &end)) end = INT64_MAX;
  from = std::max<int64_t>(from, 1);
  if (end <= from) return {};
  if (IsAscii(text)) {
    const size_t begin = std::min(static_cast<size_t>(from - 1), text.size());
    return text.substr(begin, static_cast<size_t>(end - from));
  }
  const View tail = text.substr(ByteOffset(text, from - 1));
  return tail.substr(0, ByteOffset(tail, end - from));
}

Result<ExpressionPtr> BindSubstring(const std::string& name, Arguments arguments) {
  if (arguments.size() == 2) {
    // substring(text from pattern) is the regular expression of PostgreSQL.
    const bool pattern = arguments[1]->type().kind == TypeKind::kString && name == "substring";
    if (pattern) return MakeCall("regexp_substr", std::move(arguments));
    return Bind(name, "sl", std::move(arguments), StringType(), [](const KernelInput& input) {
      return MapSlice<View, int64_t>(input, [](View text, int64_t from) { return Characters(text, from, INT64_MAX); });
    });
  }
  Kernel kernel = [](const KernelInput& input) {
    return MapSlice<View, int64_t, int64_t>(input, [](View text, int64_t from, int64_t count, Failure& failure) {
      if (count < 0) failure.Set("negative substring length not allowed");
      return Characters(text, from, count);
    });
  };
  return Bind(name, "sll", std::move(arguments), StringType(), std::move(kernel), true);
}

// The first n characters, or with a negative n all but the last -n.
View Left(View text, int64_t n) {
  if (n < 0) n = std::max<int64_t>(0, CountCharacters(text) + n);
  return text.substr(0, ByteOffset(text, n));
}

View Right(View text, int64_t n) {
  const int64_t length = CountCharacters(text);
  const int64_t skip = n < 0 ? std::min(-n, length) : std::max<int64_t>(0, length - n);
  return text.substr(ByteOffset(text, skip));
}

Result<ExpressionPtr> BindLeftRight(const std::string& name, Arguments arguments) {
  const bool left = name == "left";
  return Bind(name, "si", std::move(arguments), StringType(), [left](const KernelInput& input) {
    return MapSlice<View, int64_t>(input,
                                   [left](View text, int64_t n) { return left ? Left(text, n) : Right(text, n); });
  });
}

// Whether the character of `text` that starts at `at` is one of `set`.
bool IsOneOf(View text, size_t at, View set) {
  const View character = text.substr(at, CharacterBytes(text.substr(at)));
  for (size_t i = 0; i < set.size(); i += CharacterBytes(set.substr(i))) {
    if (set.substr(i, CharacterBytes(set.substr(i))) == character) return true;
  }
  return false;
}

View TrimBy(View text, View set, bool front, bool back) {
  while (front && !text.empty() && IsOneOf(text, 0, set)) text.remove_prefix(CharacterBytes(text));
  while (back && !text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && IsContinuation(text[last])) --last;
    if (!IsOneOf(text, last, set)) break;
    text = text.substr(0, last);
  }
  return text;
}

Result<ExpressionPtr> BindTrim(const std::string& name, Arguments arguments) {
  const bool front = name != "rtrim";
  const bool back = name != "ltrim";
  if (arguments.size() == 1) {
    return Bind(name, "s", std::move(arguments), StringType(), [front, back](const KernelInput& input) {
      return MapSlice<View>(input, [front, back](View text) { return TrimBy(text, " ", front, back); });
    });
  }
  return Bind(name, "ss", std::move(arguments), StringType(), [front, back](const KernelInput& input) {
    return MapSlice<View, View>(input, [front, back](View text, View set) { return TrimBy(text, set, front, back); });
  });
}

// Field n (from 1, negative from the end) of the text split at `by`; empty when there is none.
View SplitPart(View text, View by, int64_t n) {
  if (by.empty()) return n == 1 || n == -1 ? text : View{};
  if (n < 0) {
    int64_t fields = 1;
    for (size_t at = text.find(by); at != View::npos; at = text.find(by, at + by.size())) ++fields;
    n = fields + n + 1;
    if (n <= 0) return {};
  }
  for (; n > 1; --n) {
    const size_t at = text.find(by);
    if (at == View::npos) return {};
    text.remove_prefix(at + by.size());
  }
  return text.substr(0, text.find(by));
}

Result<ExpressionPtr> BindSplitPart(const std::string& name, Arguments arguments) {
  Kernel kernel = [](const KernelInput& input) {
    return MapSlice<View, View, int64_t>(input, [](View text, View by, int64_t n, Failure& failure) {
      if (n == 0) failure.Set("field position must not be zero");
      return n == 0 ? View{} : SplitPart(text, by, n);
    });
  };
  return Bind(name, "ssi", std::move(arguments), StringType(), std::move(kernel), true);
}

Result<ExpressionPtr> BindLength(const std::string& name, Arguments arguments) {
  const bool bytes = arguments[0]->type().kind == TypeKind::kBytes;
  if (bytes || name == "octet_length" || name == "bit_length") {
    const int64_t factor = name == "bit_length" ? 8 : 1;
    return Bind(name, bytes ? "*" : "s", std::move(arguments), IntType(), [factor](const KernelInput& input) {
      return MapRows<int64_t, View>(input, IntType(),
                                    [factor](View text) { return factor * static_cast<int64_t>(text.size()); });
    });
  }
  return Bind(name, "s", std::move(arguments), IntType(), [](const KernelInput& input) {
    return MapRows<int64_t, View>(input, IntType(), [](View text) { return CountCharacters(text); });
  });
}

// The arguments are (text, part), also for position(part IN text): so the parser of PostgreSQL gives them.
Result<ExpressionPtr> BindPosition(const std::string& name, Arguments arguments) {
  return Bind(name, "ss", std::move(arguments), IntType(), [](const KernelInput& input) {
    return MapRows<int64_t, View, View>(input, IntType(), [](View text, View part) -> int64_t {
      const size_t at = text.find(part);
      return at == View::npos ? 0 : CountCharacters(text.substr(0, at)) + 1;
    });
  });
}

Result<ExpressionPtr> BindStartsEnds(const std::string& name, Arguments arguments) {
  const bool starts = name == "starts_with";
  return Bind(name, "ss", std::move(arguments), BooleanType(), [starts](const KernelInput& input) {
    return MapRows<uint8_t, View, View>(input, BooleanType(), [starts](View text, View part) -> uint8_t {
      return starts ? text.starts_with(part) : text.ends_with(part);
    });
  });
}

Result<ExpressionPtr> BindContains(const std::string& name, Arguments arguments) {
  return Bind(name, "ss", std::move(arguments), BooleanType(), [](const KernelInput& input) {
    return MapRows<uint8_t, View, View>(input, BooleanType(),
                                        [](View text, View part) -> uint8_t { return text.find(part) != View::npos; });
  });
}

Result<ExpressionPtr> BindAscii(const std::string& name, Arguments arguments) {
  return Bind(name, "s", std::move(arguments), IntType(), [](const KernelInput& input) {
    return MapRows<int64_t, View>(input, IntType(),
                                  [](View text) -> int64_t { return text.empty() ? 0 : DecodeCharacter(text); });
  });
}

}  // namespace

std::span<const FunctionRule> TextSliceRules() {
  static constexpr FunctionRule kRules[] = {
      {"substring", 2, 3, BindSubstring},
      {"substr", 2, 3, BindSubstring},
      {"left", 2, 2, BindLeftRight},
      {"right", 2, 2, BindLeftRight},
      {"trim", 1, 2, BindTrim},
      {"btrim", 1, 2, BindTrim},
      {"ltrim", 1, 2, BindTrim},
      {"rtrim", 1, 2, BindTrim},
      {"split_part", 3, 3, BindSplitPart},
      {"length", 1, 1, BindLength},
      {"char_length", 1, 1, BindLength},
      {"character_length", 1, 1, BindLength},
      {"octet_length", 1, 1, BindLength},
      {"bit_length", 1, 1, BindLength},
      {"position", 2, 2, BindPosition},
      {"strpos", 2, 2, BindPosition},
      {"starts_with", 2, 2, BindStartsEnds},
      {"ends_with", 2, 2, BindStartsEnds},
      {"contains", 2, 2, BindContains},
      {"ascii", 1, 1, BindAscii},
  };
  return kRules;
}

}  // namespace weir
