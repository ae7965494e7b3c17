// How large a query may be: what is larger would exhaust the stack or the time of the parser and of every step behind
// it.  Private to sql/parse.
#pragma once

#include <optional>

#include "sql/parse/source_text.h"

namespace weir {

// Looks at the text alone, in linear time; empty when the query may be parsed.
std::optional<PlacedMessage> FindExcess(const SourceText& source);

}  // namespace weir
