// The header line of a CSV file: which field of a record is which declared column.
#pragma once

#include <string_view>

#include "connectors/format/format.h"

namespace weir {

// Options of a decoder for files with this header: columns in the order of the file's fields.  Fields that no column is
// declared for become columns that nobody reads; a declared column without a field needs a default or is an error.
Result<DecoderOptions> ForCsvHeader(const DecoderOptions& options, std::string_view header);

}  // namespace weir
