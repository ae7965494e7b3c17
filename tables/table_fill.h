// What a table without rows gets when it is added to a job that has state: the rows of another table, in another order,
// as if they had been folded with the restored checkpoint.
//
// A table that the restored checkpoint does not hold (an index that was declared since) is empty.  Its TableOptions::fill
// reads the rows of a table that the checkpoint holds (Table::ReadRestored) and adds each as it is to lie here.  The rows
// go into the base as runs of sorted files (table_base.h), all at once at the end: a crash before that leaves nothing, and
// the next start begins anew.  Until a checkpoint holds the table, every start does.
// One thread, before any bucket is opened.  Memory: kRunBytes of rows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tables/base/table_base.h"

namespace weir {

class TableFill {
 public:
  TableFill(TableBase& base, int buckets);

  // Rows in any order; no key twice.
  Status Add(int bucket, std::string_view group, std::string_view unique, std::string_view rest);
  // Makes the rows and the marker the base's.
  Status Finish(std::string_view marker);
  int64_t rows() const { return rows_; }

 private:
  struct Entry {
    uint32_t group = 0;  // lengths; the bytes follow one another
    uint32_t unique = 0;
    uint32_t rest = 0;
  };
  struct Bucket {
    std::string bytes;
    std::vector<Entry> entries;
  };

  // The rows that are in memory, as one run.
  Status WriteInto(Fold& run);

  TableBase& base_;
  std::vector<Bucket> buckets_;
  size_t bytes_ = 0;
  int64_t rows_ = 0;
  std::vector<std::unique_ptr<Fold>> runs_;
};

}  // namespace weir
