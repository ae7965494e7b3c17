// The columns of a source: types, paths, units, metadata, defaults.
#pragma once

#include "jobs/job_file/job_file.h"

namespace weir {

std::vector<SourceColumn> ReadColumns(const DocumentNode& node, Diagnostics& out);

// Indexes of the named columns; an unknown name or one given twice is an error.
std::vector<int> ReadColumnNames(const DocumentNode& node, std::string_view key,
                                 const std::vector<SourceColumn>& columns, Diagnostics& out);
// -1 and an error when there is no such column.
int FindColumn(const std::string& name, const FilePosition& position, const std::vector<SourceColumn>& columns,
               Diagnostics& out);

}  // namespace weir
