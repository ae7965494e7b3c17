// GROUP BY with GROUPING SETS, ROLLUP and CUBE, written out as sets of its expressions, and ORDER BY inside aggregates.
//
// 1. An element of GROUP BY stands for a list of sets: an expression for one, ROLLUP (a, b) for (a, b), (a) and ().
// 2. The sets of a GROUP BY are the combinations of one set of each element.

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

using Sets = std::vector<std::vector<size_t>>;

constexpr size_t kMaxSets = 128;

// The sets of one element added to each of those before it.
Sets Combine(const Sets& before, const Sets& element) {
  Sets combined;
  for (const std::vector<size_t>& first : before) {
    for (const std::vector<size_t>& second : element) {
      combined.push_back(first);
      combined.back().insert(combined.back().end(), second.begin(), second.end());
      if (combined.size() > kMaxSets) return combined;
    }
  }
  return combined;
}

// (a, b), (a), () for ROLLUP of the units a and b.
Sets Rollup(const Sets& units) {
  Sets sets;
  for (size_t count = units.size() + 1; count-- > 0;) {
    std::vector<size_t>& set = sets.emplace_back();
    for (size_t i = 0; i < count; ++i) set.insert(set.end(), units[i].begin(), units[i].end());
  }
  return sets;
}

Sets Cube(const Sets& units) {
  Sets sets = {{}};
  for (const std::vector<size_t>& unit : units) {
    sets = Combine(sets, {unit, {}});
    if (sets.size() > kMaxSets) break;
  }
  return sets;
}

}  // namespace

Sets AstBuilder::BuildGroupElement(const Json& wrapped, AstSelect& select) {
  const NamedNode node = Unwrap(wrapped);
  if (node.name == "RowExpr") {
    NodeFields row(*node.fields);
    Sets sets(1);
    for (const Json* item : row.TakeList("args")) {
      const Sets one = BuildGroupElement(*item, select);
      if (!one.empty()) sets[0].insert(sets[0].end(), one[0].begin(), one[0].end());
    }
    return sets;
  }
  if (node.name != "GroupingSet") {
    AstExpressionPtr built = BuildExpression(wrapped);
    if (built == nullptr) return {};
    select.group_by.push_back(std::move(built));
    return {{select.group_by.size() - 1}};
  }
  NodeFields fields(*node.fields);
  const std::string kind = fields.TakeText("kind");
  Sets contents;
  for (const Json* item : fields.TakeList("content")) {
    const Sets sets = BuildGroupElement(*item, select);
    contents.insert(contents.end(), sets.begin(), sets.end());
    if (contents.size() > kMaxSets) break;
  }
  if (kind == "GROUPING_SET_EMPTY") return {{}};
  if (kind == "GROUPING_SET_ROLLUP") return Rollup(contents);
  if (kind == "GROUPING_SET_CUBE") return Cube(contents);
  return contents;
}

void AstBuilder::BuildGroupBy(NodeFields& fields, size_t at, AstSelect& select) {
  if (fields.TakeFlag("groupDistinct")) Refuse(at, "GROUP BY DISTINCT is not supported");
  Sets sets = {{}};
  bool written = false;
  for (const Json* wrapped : fields.TakeList("groupClause")) {
    const NamedNode node = Unwrap(*wrapped);
    written = written || node.name == "GroupingSet";
    sets = Combine(sets, BuildGroupElement(*wrapped, select));
    if (sets.size() > kMaxSets) {
      Refuse(LocationOf(*node.fields),
             "GROUP BY has more than " + std::to_string(kMaxSets) + " grouping sets; split it in two queries");
      return;
    }
  }
  if (written) select.grouping_sets = std::move(sets);
}

void AstBuilder::BuildAggregateOrder(NodeFields& fields, AstExpression& call) {
  for (const Json* wrapped : fields.TakeList("agg_order")) {
    NodeFields sort(*Unwrap(*wrapped).fields);
    AstAggregateOrder order;
    if (const Json* node = sort.Take("node")) order.expression = BuildExpression(*node);
    const std::string direction = sort.TakeText("sortby_dir");
    const std::string nulls = sort.TakeText("sortby_nulls");
    if (direction == "SORTBY_USING") {
      Refuse(call.at, "ORDER BY ... USING is not supported; write ASC or DESC");
      continue;
    }
    order.descending = direction == "SORTBY_DESC";
    // NULL is the largest value unless it is said otherwise.
    order.nulls_first = nulls == "SORTBY_NULLS_FIRST" || (nulls != "SORTBY_NULLS_LAST" && order.descending);
    call.order.push_back(std::move(order));
  }
}

}  // namespace weir
