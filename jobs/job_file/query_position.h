// Where a place of a query stands in the job file.
//
// The planner counts lines and characters within the query's text; YAML has folded, unindented and unescaped that text.
// This walks the file again from the scalar's first character, producing the same text with the place of every
// character, for all five scalar styles (plain, '...', "...", |, >).
#pragma once

#include <string_view>

#include "jobs/job_file/diagnostics.h"
#include "jobs/job_file/job_file.h"

namespace weir {

// `scalar` is the place of the scalar's first character in `file` (of the | of a block), `text` its value as the file
// has it; `line` and `column` are 1-based, the column in characters.  A place that cannot be found is the nearest one
// before it.
FilePosition PositionInFile(std::string_view file, const FilePosition& scalar, std::string_view text, int line,
                            int column);
// The same for a place in a query's SQL, in which ${VAR} has been filled in.
FilePosition PositionOfQuery(const JobFile& file, const QueryDeclaration& query, int line, int column);

}  // namespace weir
