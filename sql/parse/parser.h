// From the text of one query to its syntax tree.
//
// libpg_query (PostgreSQL 15's own grammar) parses; the tree is then copied into sql/parse/ast.h.  Every field of a
// node that is copied must have been looked at: a part of the grammar that weir does not know is refused with its
// position, never dropped.  Thread-safe; never throws.
#pragma once

#include <optional>
#include <vector>

#include "sql/parse/ast.h"
#include "sql/parse/source_text.h"

namespace weir {

struct ParseOutcome {
  AstStatement statement;             // valid when there are no errors
  std::vector<PlacedMessage> errors;  // as many as can be found
};

ParseOutcome ParseQuery(const SourceText& source);

}  // namespace weir
