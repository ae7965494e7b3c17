// A log table as an operator: appends its rows to the logs of the table's buckets, and passes them on.
//
// Input: rows that are only added, with the table's columns, of all INSERTs into the table.  Output: the same rows (+I),
// when someone reads them; nobody reads the log back.  A row goes to the bucket of the bucket columns; a table that has
// none fills the buckets of the task in turn, a batch each (Fluss's sticky assignment).  What is in the logs is the
// table's (tables/table.h), so the operator has no state in a checkpoint.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "tables/table.h"

namespace weir {

struct LogTableOptions {
  SchemaPtr schema;
  std::vector<int> bucket_columns;  // by whose bucket rows have come to this task; empty: rows come to any task
  std::shared_ptr<Table> table;     // of the kind kLog; has at least as many buckets as the stage has tasks if there are
                                    // no bucket columns
  bool read = true;                 // someone takes the rows
};

Result<std::unique_ptr<Operator>> MakeLogTableOperator(const LogTableOptions& options);

}  // namespace weir
