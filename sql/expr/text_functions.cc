// Text functions that write new texts: ||, concat, upper, replace, lpad, md5 and so on.
#include <algorithm>

#include "sql/expr/kernel.h"
#include "sql/expr/md5.h"
#include "sql/expr/registry.h"
#include "sql/expr/types.h"
#include "sql/expr/utf8.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;

Result<ExpressionPtr> Bind(const std::string& name, View parameters, Arguments arguments, Kernel kernel,
                           bool can_fail = false) {
  WEIR_ASSIGN(Arguments accepted, Accept(name, parameters, std::move(arguments)));
  return MakeKernelCall({name, StringType(), std::move(accepted), std::move(kernel), can_fail});
}

Result<Arguments> AllToText(Arguments arguments) {
  for (ExpressionPtr& argument : arguments) {
    WEIR_ASSIGN(argument, MakeCast(argument, StringType()));
  }
  return arguments;
}

// --- concatenation
// ------------------------------------------------------------------------------------------------------- a || b: NULL
// when either is.  Any type next to a text becomes text, as in PostgreSQL.
Result<ExpressionPtr> BindConcatOperator(const std::string& name, Arguments arguments) {
  const auto is_text = [](const ExpressionPtr& e) { return e->type().kind == TypeKind::kString; };
  if (std::none_of(arguments.begin(), arguments.end(), is_text)) return NoSuchOperator(name, arguments);
  WEIR_ASSIGN(arguments, AllToText(std::move(arguments)));
  return MakeKernelCall({name, StringType(), std::move(arguments), [](const KernelInput& input) {
                           return MapText<View, View>(
                               input, StringType(), [](View a, View b, std::string& out) { out.append(a).append(b); });
                         }});
}

// concat and concat_ws: NULLs are skipped; the separator of concat_ws makes the result NULL.
RowResult<ColumnPtr> ConcatRows(const KernelInput& input, bool separated) {
  std::vector<Reader<View>> readers;
  for (const Operand& argument : input.arguments) readers.emplace_back(argument);
  auto out = std::make_shared<Column>(StringType());
  out->Resize(input.rows);
  TextOutput texts(*out);
  std::string scratch;
  for (size_t row = 0; row < input.rows; ++row) {
    scratch.clear();
    if (separated && input.arguments[0].IsNull(row)) {
      out->SetNull(row);
    } else {
      bool first = true;
      for (size_t i = separated ? 1 : 0; i < readers.size(); ++i) {
        if (input.arguments[i].IsNull(row)) continue;
        if (separated && !first) scratch.append(readers[0][row]);
        first = false;
        scratch.append(readers[i][row]);
      }
    }
    if (!texts.Set(row, scratch)) return FailRow(row, "text too large");
  }
  return ColumnPtr(std::move(out));
}

Result<ExpressionPtr> BindConcat(const std::string& name, Arguments arguments) {
  const bool separated = name == "concat_ws";
  WEIR_ASSIGN(arguments, AllToText(std::move(arguments)));
  return MakeKernelCall({name, StringType(), std::move(arguments),
                         [separated](const KernelInput& input) { return ConcatRows(input, separated); }});
}

// --- letters
// -------------------------------------------------------------------------------------------------------------
void AppendUpper(View text, std::string& out) {
  if (IsAscii(text)) {
    for (const char c : text) out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return;
  }
  for (; !text.empty(); text.remove_prefix(CharacterBytes(text))) AppendCharacter(ToUpper(DecodeCharacter(text)), out);
}

void AppendLower(View text, std::string& out) {
  if (IsAscii(text)) {
    for (const char c : text) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  for (; !text.empty(); text.remove_prefix(CharacterBytes(text))) AppendCharacter(ToLower(DecodeCharacter(text)), out);
}

// The first letter of each word (a run of letters and digits) in upper case, the rest in lower case.
void AppendInitCap(View text, std::string& out) {
  bool in_word = false;
  for (; !text.empty(); text.remove_prefix(CharacterBytes(text))) {
    const int32_t c = DecodeCharacter(text);
    AppendCharacter(in_word ? ToLower(c) : ToUpper(c), out);
    in_word = (c >= '0' && c <= '9') || ToUpper(c) != ToLower(c) || c >= 0x100;
  }
}

void AppendReversed(View text, std::string& out) {
  for (size_t end = text.size(); end > 0;) {
    size_t begin = end - 1;
    while (begin > 0 && IsContinuation(text[begin])) --begin;
    out.append(text.substr(begin, end - begin));
    end = begin;
  }
}

template <void (*kAppend)(View, std::string&)>
Result<ExpressionPtr> BindTransform(const std::string& name, Arguments arguments) {
  return Bind(name, "s", std::move(arguments),
              [](const KernelInput& input) { return MapText<View>(input, StringType(), kAppend); });
}

// --- replacing and filling
// -----------------------------------------------------------------------------------------------
void AppendReplaced(View text, View from, View to, std::string& out) {
  for (size_t at = from.empty() ? View::npos : text.find(from); at != View::npos; at = text.find(from)) {
    out.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  out.append(text);
}

Result<ExpressionPtr> BindReplace(const std::string& name, Arguments arguments) {
  return Bind(name, "sss", std::move(arguments),
              [](const KernelInput& input) { return MapText<View, View, View>(input, StringType(), AppendReplaced); });
}

// Each character of `from` becomes the one at its place in `to`, or nothing.
void AppendTranslated(View text, View from, View to, std::string& out) {
  for (; !text.empty(); text.remove_prefix(CharacterBytes(text))) {
    const View character = text.substr(0, CharacterBytes(text));
    int64_t index = 0;
    size_t at = 0;
    while (at < from.size() && from.substr(at, CharacterBytes(from.substr(at))) != character) {
      at += CharacterBytes(from.substr(at));
      ++index;
    }
    if (at >= from.size()) {
      out.append(character);
    } else if (const size_t target = ByteOffset(to, index); target < to.size()) {
      out.append(to.substr(target, CharacterBytes(to.substr(target))));
    }
  }
}

Result<ExpressionPtr> BindTranslate(const std::string& name, Arguments arguments) {
  return Bind(name, "sss", std::move(arguments), [](const KernelInput& input) {
    return MapText<View, View, View>(input, StringType(), AppendTranslated);
  });
}

Result<ExpressionPtr> BindRepeat(const std::string& name, Arguments arguments) {
  Kernel kernel = [](const KernelInput& input) {
    return MapText<View, int64_t>(input, StringType(), [](View text, int64_t n, std::string& out, Failure& failure) {
      if (n > 0 && text.size() > kMaxTextBytes / static_cast<size_t>(n)) return failure.Set("text too large");
      for (; n > 0 && !text.empty(); --n) out.append(text);
    });
  };
  return Bind(name, "si", std::move(arguments), std::move(kernel), true);
}

// `count` characters of `fill`, repeated.
void AppendFill(View fill, int64_t count, std::string& out) {
  for (size_t at = 0; count > 0; --count) {
    const size_t size = CharacterBytes(fill.substr(at));
    out.append(fill.substr(at, size));
    at = at + size < fill.size() ? at + size : 0;
  }
}

Result<ExpressionPtr> BindPad(const std::string& name, Arguments arguments) {
  const bool left = name == "lpad";
  if (arguments.size() == 2) arguments.push_back(MakeString(" "));
  Kernel kernel = [left](const KernelInput& input) {
    return MapText<View, int64_t, View>(
        input, StringType(), [left](View text, int64_t length, View fill, std::string& out, Failure& failure) {
          if (length > static_cast<int64_t>(kMaxTextBytes) / 4) return failure.Set("text too large");
          const int64_t missing = fill.empty() ? 0 : length - CountCharacters(text);
          if (left) AppendFill(fill, missing, out);
          out.append(text.substr(0, ByteOffset(text, std::max<int64_t>(length, 0))));
          if (!left) AppendFill(fill, missing, out);
        });
  };
  return Bind(name, "sis", std::move(arguments), std::move(kernel), true);
}

// --- codes
// ---------------------------------------------------------------------------------------------------------------
Result<ExpressionPtr> BindChr(const std::string& name, Arguments arguments) {
  Kernel kernel = [](const KernelInput& input) {
    return MapText<int64_t>(input, StringType(), [](int64_t code, std::string& out, Failure& failure) {
      const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
      if (code <= 0 || code > 0x10FFFF || surrogate)
        return failure.Set("requested character not valid for encoding: " + std::to_string(code));
      AppendCharacter(static_cast<int32_t>(code), out);
    });
  };
  return Bind(name, "i", std::move(arguments), std::move(kernel), true);
}

Result<ExpressionPtr> BindToHex(const std::string& name, Arguments arguments) {
  const bool wide = arguments[0]->type().kind == TypeKind::kBigint;
  return Bind(name, "l", std::move(arguments), [wide](const KernelInput& input) {
    return MapText<int64_t>(input, StringType(), [wide](int64_t value, std::string& out) {
      uint64_t rest = wide ? static_cast<uint64_t>(value) : static_cast<uint32_t>(value);
      char digits[16];
      size_t at = sizeof(digits);
      do {
        digits[--at] = "0123456789abcdef"[rest & 15];
        rest >>= 4;
      } while (rest != 0);
      out.append(digits + at, sizeof(digits) - at);
    });
  });
}

Result<ExpressionPtr> BindMd5(const std::string& name, Arguments arguments) {
  const View parameters = arguments[0]->type().kind == TypeKind::kBytes ? "*" : "s";
  return Bind(name, parameters, std::move(arguments),
              [](const KernelInput& input) { return MapText<View>(input, StringType(), AppendMd5); });
}

}  // namespace

std::span<const FunctionRule> TextRules() {
  static constexpr FunctionRule kRules[] = {
      {"||", 2, 2, BindConcatOperator},
      {"concat", 1, kAnyNumber, BindConcat},
      {"concat_ws", 1, kAnyNumber, BindConcat},
      {"upper", 1, 1, BindTransform<AppendUpper>},
      {"lower", 1, 1, BindTransform<AppendLower>},
      {"initcap", 1, 1, BindTransform<AppendInitCap>},
      {"reverse", 1, 1, BindTransform<AppendReversed>},
      {"replace", 3, 3, BindReplace},
      {"translate", 3, 3, BindTranslate},
      {"repeat", 2, 2, BindRepeat},
      {"lpad", 2, 3, BindPad},
      {"rpad", 2, 3, BindPad},
      {"chr", 1, 1, BindChr},
      {"to_hex", 1, 1, BindToHex},
      {"md5", 1, 1, BindMd5},
  };
  return kRules;
}

}  // namespace weir
