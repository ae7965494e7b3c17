// Several INSERTs into one sink that can have one writer only, a folder of files, become one INSERT of UNION ALL.

#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::string ColumnsOf(const Schema& schema) {
  std::string text;
  for (const Field& field : schema.fields()) {
    if (!text.empty()) text += ", ";
    text += QuotedIfNeeded(field.name) + " " + field.type.ToString();
  }
  return text;
}

bool SameColumns(const Schema& left, const Schema& right) {
  return std::ranges::equal(left.fields(), right.fields(), [](const Field& a, const Field& b) {
    return a.name == b.name && a.type == b.type;
  });
}

}  // namespace

void MergeInserts(std::vector<PlanPtr>& sinks, const Catalog& catalog, std::vector<QueryError>& errors) {
  std::vector<PlanPtr> kept;
  for (PlanPtr& sink : sinks) {
    const auto first = std::find_if(kept.begin(), kept.end(),
                                    [&](const PlanPtr& other) { return other->relation == sink->relation; });
    if (first == kept.end() || !catalog.Find(sink->relation)->one_writer) {
      kept.push_back(std::move(sink));
      continue;
    }
    PlanPtr& rows = (*first)->inputs[0];
    const Schema& columns = *rows->schema;
    if (!SameColumns(columns, *sink->inputs[0]->schema)) {
      errors.push_back({sink->query, sink->line, sink->column,
                        "another INSERT writes (" + ColumnsOf(columns) + ") into sink " + QuotedIfNeeded(sink->relation) +
                            ", this one (" + ColumnsOf(*sink->inputs[0]->schema) +
                            "): give both the same columns, or each a sink"});
      continue;
    }
    if (rows->kind == NodeKind::kUnion) {
      rows->inputs.push_back(sink->inputs[0]);
    } else {
      rows = NewUnion({rows, sink->inputs[0]});
    }
    RefreshSchema(*rows);
    RefreshSchema(**first);
  }
  sinks = std::move(kept);
}

}  // namespace weir
