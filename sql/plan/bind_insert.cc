// INSERT INTO a sink, which takes the columns as they come, or a table, which has columns of its own.

#include <algorithm>
#include <set>

#include "sql/plan/binder.h"
#include "sql/plan/nodes.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::string Count(size_t count) { return std::to_string(count) + (count == 1 ? " column" : " columns"); }

// Where the SELECT writes its column `index`; the table's name where that is not to be seen.
size_t ItemPlace(const AstStatement& insert, size_t index) {
  const AstSelect& select = *insert.select;
  const bool stars = std::any_of(select.items.begin(), select.items.end(), [](const AstSelectItem& i) { return i.star; });
  if (select.set_operation != AstSelect::SetOperation::kNone || stars || index >= select.items.size()) return insert.at;
  return select.items[index].at;
}

}  // namespace

const CatalogRelation* Binder::FindTarget(const AstStatement& insert) {
  const CatalogRelation* target = catalog_.Find(insert.name);
  if (target == nullptr) {
    std::vector<std::string> names;
    for (const CatalogRelation& relation : catalog_.relations) {
      if (relation.kind != CatalogRelation::Kind::kSource) names.push_back(relation.name);
    }
    Fail(insert.at, "sink " + QuotedIfNeeded(insert.name) + " does not exist" + DidYouMean(insert.name, names));
    return nullptr;
  }
  if (target->kind != CatalogRelation::Kind::kSource) return target;
  Fail(insert.at, QuotedIfNeeded(insert.name) + " is a source; INSERT INTO takes a sink or a table");
  return nullptr;
}

PlanPtr Binder::BindInsert(const AstStatement& insert, size_t query, const SourceText& source) {
  query_ = query;
  source_ = &source;
  bound_tables_ = 0;
  const CatalogRelation* target = FindTarget(insert);
  if (target == nullptr) {
    BindSelect(*insert.select, nullptr, nullptr, /*keep_nulls=*/false);  // for its own errors
    return nullptr;
  }
  const bool is_table = target->kind == CatalogRelation::Kind::kTable;
  PlanPtr rows = is_table ? BindTableRows(insert, *target) : BindSinkRows(insert);
  if (rows == nullptr) return nullptr;
  PlanPtr node = NewKeyed(NodeKind::kSink, std::move(rows), {});
  node->relation = target->name;
  const TextPlace place = source.Locate(insert.at);
  node->query = query;
  node->line = place.line;
  node->column = place.column;
  return node;
}

PlanPtr Binder::BindSinkRows(const AstStatement& insert) {
  PlanPtr plan = BindSelect(*insert.select, nullptr, nullptr, /*keep_nulls=*/false);
  if (plan == nullptr) return nullptr;
  if (!insert.columns.empty() && insert.columns.size() != plan->schema->size()) {
    return Fail(insert.columns_at[0], "INSERT names " + std::to_string(insert.columns.size()) +
                                          " columns, and SELECT gives " + std::to_string(plan->schema->size()));
  }
  if (!RenameColumns(plan, insert.columns, insert.at, "INSERT")) return nullptr;
  const std::vector<size_t>& places = insert.columns.empty() ? item_places_ : insert.columns_at;
  std::set<std::string> seen;
  bool unique = true;
  for (size_t i = 0; i < plan->schema->size(); ++i) {
    const std::string& name = (*plan->schema)[i].name;
    if (seen.insert(name).second) continue;
    Fail(i < places.size() ? places[i] : insert.at,
         "column " + QuotedIfNeeded(name) + " appears twice in the output; give one an alias");
    unique = false;
  }
  return unique ? plan : nullptr;
}

bool Binder::MatchColumns(const AstStatement& insert, const CatalogRelation& table, size_t given,
                          std::vector<int>& from) {
  from.assign(table.schema.size(), -1);
  bool right = true;
  if (insert.columns.empty()) {
    if (given > from.size()) {
      Fail(insert.at, "SELECT gives " + Count(given) + ", and table " + QuotedIfNeeded(table.name) + " has " +
                          std::to_string(from.size()));
      return false;
    }
    for (size_t i = 0; i < given; ++i) from[i] = static_cast<int>(i);
  }
  for (size_t i = 0; i < insert.columns.size(); ++i) {
    const std::string& name = insert.columns[i];
    const std::optional<size_t> column = table.schema.Find(name);
    if (!column || from[*column] >= 0) {
      Fail(insert.columns_at[i],
           column ? "column " + QuotedIfNeeded(name) + " is given twice"
                  : "table " + QuotedIfNeeded(table.name) + " has no column " + QuotedIfNeeded(name) +
                        DidYouMean(name, ColumnNames(table.schema)));
      right = false;
      continue;
    }
    from[*column] = static_cast<int>(i);
  }
  if (!insert.columns.empty() && insert.columns.size() != given) {
    Fail(insert.columns_at[0],
         "INSERT names " + Count(insert.columns.size()) + ", and SELECT gives " + std::to_string(given));
    return false;
  }
  if (!right) return false;
  for (const int column : table.primary_key) {
    if (from[static_cast<size_t>(column)] >= 0) continue;
    Fail(insert.at, "INSERT gives no " + QuotedIfNeeded(table.schema[static_cast<size_t>(column)].name) +
                        ", which belongs to the primary key of table " + QuotedIfNeeded(table.name));
    right = false;
  }
  return right;
}

// The value of one column in the table's type.
ExpressionPtr Binder::AssignColumn(const AstStatement& insert, const PlanNode& rows, int from,
                                   const CatalogRelation& table, int to) {
  const Field& field = table.schema[static_cast<size_t>(to)];
  const bool in_key = std::find(table.primary_key.begin(), table.primary_key.end(), to) != table.primary_key.end();
  const bool not_null = std::find(table.not_null.begin(), table.not_null.end(), to) != table.not_null.end();
  const std::string what = "column " + QuotedIfNeeded(field.name) + " of table " + QuotedIfNeeded(table.name);
  const size_t at = from < 0 ? insert.at : ItemPlace(insert, static_cast<size_t>(from));
  ExpressionPtr value = MakeNull(field.type);
  if (from >= 0) {
    const DataType& type = (*rows.schema)[static_cast<size_t>(from)].type;
    value = MakeColumn(from, type);
    // A literal without a type of its own takes that of the column, as in PostgreSQL.
    const bool literal = rows.kind == NodeKind::kProject && type.kind == TypeKind::kString &&
                         rows.expressions[static_cast<size_t>(from)]->Literal() != nullptr;
    if (type.kind == TypeKind::kNull) {
      value = MakeNull(field.type);
    } else if (type != field.type) {
      const Result<ExpressionPtr> cast = literal
                                             ? MakeCast(rows.expressions[static_cast<size_t>(from)], field.type)
                                             : MakeAssignmentCast(std::move(value), field.type);
      if (!cast) {
        return Fail(at, what + " is " + field.type.ToString() + ", and SELECT gives " + type.ToString() +
                            "; cast it in the query");
      }
      value = FoldConstants(*cast);
      const bool broken = literal && value->Literal() == nullptr && !value->UsesContext();
      if (broken) return Fail(at, what + " is " + field.type.ToString() + ", and this text is none");
    }
  }
  if (!in_key && !not_null) return value;
  if (const ColumnPtr constant = value->Literal(); constant != nullptr && constant->IsNull(0)) {
    return Fail(at, what + " takes no NULL");
  }
  return value->ColumnIndex() >= 0 && !CanBeNull(*value, *rows.schema) ? value : MakeNotNull(value, what, in_key);
}

PlanPtr Binder::BindTableRows(const AstStatement& insert, const CatalogRelation& table) {
  PlanPtr rows = BindSelect(*insert.select, nullptr, nullptr, /*keep_nulls=*/true);
  std::vector<int> from;
  if (rows == nullptr || !MatchColumns(insert, table, rows->schema->size(), from)) return nullptr;
  std::vector<ExpressionPtr> values;
  bool complete = true;
  for (size_t to = 0; to < from.size(); ++to) {
    values.push_back(AssignColumn(insert, *rows, from[to], table, static_cast<int>(to)));
    complete = complete && values.back() != nullptr;
  }
  return complete ? NewProject(std::move(rows), std::move(values), ColumnNames(table.schema)) : nullptr;
}

}  // namespace weir
