// Rows of cells under two lines of header, as wide as their widest cell.
#pragma once

#include <string>
#include <vector>

namespace weir {

struct TableColumn {
  std::string title;  // first line of the header
  std::string unit;   // second line
  bool left = false;  // how cells are aligned
};

class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  const std::vector<TableColumn>& columns() const { return columns_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  // As many cells as columns.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string ToString() const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 1,234,567.8; digits after the point as asked.
std::string Grouped(double value, int digits);
std::string Grouped(int64_t value);

}  // namespace weir
