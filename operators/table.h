// A primary-key table as an operator: the one writer of its buckets, and the source of its changelog.
//
// Input: changes of all INSERTs into the table, with its columns, in the order of each key; append, upsert or full.  A +I
// or +U replaces the row of its key, a -D needs key columns only; a -U is ignored, unless the +U behind it has another
// key: then it deletes (of a pair that goes to two tasks, the exchange makes a -D and a +I).  A -D of a row that is not there is ignored and counted (OperatorMetrics::ignored_deletes).
// Output: the table's changelog with old and new values; a row that is written again as it is makes no change.
// The rows are in the table's store (tables/row_groups.h), so the operator has no state in a checkpoint.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/operator.h"
#include "tables/table.h"

namespace weir {

struct TableOperatorOptions {
  SchemaPtr schema;
  std::vector<int> key;             // the primary key
  std::vector<int> bucket_columns;  // by whose bucket rows have come to this task; among the key
  std::shared_ptr<Table> table;     // logged
  bool read = true;                 // someone takes the changelog
};

Result<std::unique_ptr<Operator>> MakeTableOperator(const TableOperatorOptions& options);

}  // namespace weir
