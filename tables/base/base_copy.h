// Copies of a base that share its SST files.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace rocksdb {
class DB;
}

namespace weir {

// The work of TableBase::LinkInto, for a base that is not empty.
Status LinkDatabase(rocksdb::DB& database, const std::string& folder, const std::string& path);

}  // namespace weir
