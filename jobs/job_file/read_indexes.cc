// indexes: [[item_id, ds], ...] of a table with a primary_key.

#include <algorithm>

#include "jobs/job_file/map_reader.h"
#include "jobs/job_file/read_columns.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

std::vector<int> Sorted(std::vector<int> columns) {
  std::sort(columns.begin(), columns.end());
  return columns;
}

std::string NamesOf(const std::vector<int>& columns, const TableDeclaration& table) {
  std::string names;
  for (const int column : columns) {
    names += (names.empty() ? "" : ", ") + table.columns[static_cast<size_t>(column)].name;
  }
  return names;
}

// What finds rows by these columns without an index: the table's own buckets.
std::string FoundWithout(const std::vector<int>& index, const TableDeclaration& table) {
  const std::vector<int>& key = table.primary_key;
  if (Sorted(index) == Sorted(key)) return "the table finds rows by its primary_key without an index";
  if (Sorted(index) == Sorted(table.bucket_key)) return "the table finds rows by its bucket key without an index";
  const bool leads = index.size() < key.size() && std::equal(index.begin(), index.end(), key.begin());
  if (!leads || table.bucket_key != key) return {};
  return fmt::format("the table finds rows by the first columns of its primary_key itself when it is spread by them; "
                     "write bucket: {{key: [{}]}}",
                     NamesOf(index, table));
}

// Empty when it is right.
std::string WhyNot(const std::vector<int>& index, const TableDeclaration& table) {
  for (const int column : index) {
    const SourceColumn& field = table.columns[static_cast<size_t>(column)];
    const TypeKind kind = field.type.kind;
    if (kind != TypeKind::kArray && kind != TypeKind::kBitmap32 && kind != TypeKind::kBitmap64) continue;
    return fmt::format("column {} is a {}, by which rows are not found", field.name, field.type.ToString());
  }
  for (const std::vector<int>& other : table.indexes) {
    if (Sorted(other) == Sorted(index)) return "an index of these columns is there already";
  }
  return FoundWithout(index, table);
}

}  // namespace

void ReadIndexes(const DocumentNode& node, TableDeclaration& table, Diagnostics& out) {
  const bool lists = node.IsList() && std::all_of(node.items.begin(), node.items.end(),
                                                  [](const DocumentNode& item) { return item.IsList() && !item.items.empty(); });
  if (!lists || node.items.empty()) {
    out.Add(node.position, "indexes takes a list of lists of columns: [[item_id, ds], [shop_id]]");
    return;
  }
  for (const DocumentNode& item : node.items) {
    std::vector<int> index = ReadColumnNames(item, "indexes", table.columns, out);
    if (index.empty()) continue;  // reported
    if (const std::string reason = WhyNot(index, table); !reason.empty()) {
      out.Add(item.position, "indexes: " + reason);
      continue;
    }
    table.indexes.push_back(std::move(index));
  }
}

}  // namespace weir
