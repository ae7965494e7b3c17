#include "sql/parse/parser.h"

#include <pg_query.h>

#include <mutex>

#include "sql/parse/ast_builder.h"
#include "sql/parse/limits.h"

namespace weir {
namespace {

struct RawTree {
  std::string json;
  std::string error;
  size_t error_character = 0;  // 1-based; 0: unknown
};

// The library's sentence, where it does not speak of its own insides.
std::string SyntaxMessage(const std::string& text) {
  const bool too_deep = text.starts_with("memory exhausted") || text.starts_with("stack depth limit exceeded");
  return too_deep ? "the query is nested too deeply here; compute parts of it in a view" : text;
}

// One call at a time: queries are few, and nothing then depends on how the library keeps its state.
RawTree CallLibrary(const std::string& sql) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const PgQueryParseResult result = pg_query_parse(sql.c_str());
  RawTree tree;
  if (result.error != nullptr) {
    tree.error = SyntaxMessage(result.error->message == nullptr ? "syntax error" : result.error->message);
    tree.error_character = result.error->cursorpos > 0 ? static_cast<size_t>(result.error->cursorpos) : 0;
  } else if (result.parse_tree != nullptr) {
    tree.json = result.parse_tree;
  }
  pg_query_free_parse_result(result);
  return tree;
}

bool IsUtf8(const std::string& text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (length == 0 || lead > 0xF4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    }
    i += length;
  }
  return true;
}

}  // namespace

ParseOutcome ParseQuery(const SourceText& source) {
  ParseOutcome outcome;
  const std::string& sql = source.text();
  if (const size_t zero = sql.find('\0'); zero != std::string::npos) {
    outcome.errors.push_back({zero, "the query contains a zero byte"});
    return outcome;
  }
  if (!IsUtf8(sql)) {
    outcome.errors.push_back({0, "the query is not valid UTF-8"});
    return outcome;
  }
  if (std::optional<PlacedMessage> excess = FindExcess(source)) {
    outcome.errors.push_back(std::move(*excess));
    return outcome;
  }
  const RawTree tree = CallLibrary(sql);
  if (!tree.error.empty()) {
    outcome.errors.push_back({source.OffsetOfCharacter(tree.error_character), tree.error});
    return outcome;
  }
  const Json root = Json::parse(tree.json, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    outcome.errors.push_back({0, "the query is too complex: its syntax tree cannot be read"});
    return outcome;
  }
  AstBuilder builder(source);
  outcome.statement = builder.Build(root);
  outcome.errors = builder.TakeErrors();
  return outcome;
}

}  // namespace weir
