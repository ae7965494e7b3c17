// The rows of a declared table as an index of it keeps them: what an index that is added to a job with state is filled
// with.  While the job runs the index is a table of its own, fed by the table's changelog (operators/table.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/data/batch.h"
#include "tables/table.h"
#include "tables/table_fill.h"

namespace weir {

struct TableIndexOptions {
  std::shared_ptr<Table> table;     // the declared one, opened
  SchemaPtr schema;                 // of both
  std::vector<int> key;             // of the index: its columns and the primary key
  std::vector<int> bucket_columns;  // of the index
  int buckets = 0;                  // of the index
};

// Adds every row that the table has as of the restored checkpoint.  REQUIRES: both tables' rows are those of
// MakeTableOperator.
Status FillIndex(const TableIndexOptions& options, TableFill& rows);

}  // namespace weir
