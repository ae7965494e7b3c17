#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

bool IsCheap(const Expression& expression) { return expression.ColumnIndex() >= 0 || expression.Literal() != nullptr; }

void CountUses(const Expression& expression, std::vector<int>& uses) {
  if (expression.ColumnIndex() >= 0) ++uses[static_cast<size_t>(expression.ColumnIndex())];
  for (const ExpressionPtr& child : expression.children()) CountUses(*child, uses);
}

// Two projects in a row are one, unless that computed something twice or drew a random value twice.
bool MergeProjects(PlanNode& outer) {
  const PlanPtr inner = outer.inputs[0];
  std::vector<int> uses(inner->expressions.size(), 0);
  for (const ExpressionPtr& expression : outer.expressions) CountUses(*expression, uses);
  for (size_t i = 0; i < uses.size(); ++i) {
    const Expression& expression = *inner->expressions[i];
    if (uses[i] > 1 && !IsCheap(expression)) return false;
    if (uses[i] > 0 && !expression.deterministic()) return false;
  }
  std::vector<ExpressionPtr> merged;
  for (const ExpressionPtr& expression : outer.expressions) {
    ExpressionPtr substituted = Substitute(expression, inner->expressions);
    if (substituted == nullptr) return false;
    merged.push_back(FoldConstants(substituted));
  }
  outer.expressions = std::move(merged);
  outer.inputs[0] = inner->inputs[0];
  RefreshSchema(outer);
  return true;
}

bool IsIdentity(const PlanNode& project) {
  if (project.expressions.size() != project.inputs[0]->schema->size()) return false;
  for (size_t i = 0; i < project.expressions.size(); ++i) {
    if (project.expressions[i]->ColumnIndex() != static_cast<int>(i)) return false;
  }
  return true;
}

PlanPtr TidyNode(PlanPtr node, bool names_matter) {
  if (node->kind == NodeKind::kProject) {
    while (node->inputs[0]->kind == NodeKind::kProject && MergeProjects(*node)) {
    }
    if (IsIdentity(*node)) {
      const bool same_names = ColumnNames(*node->schema) == ColumnNames(*node->inputs[0]->schema);
      if (same_names || !names_matter) return TidyNode(node->inputs[0], names_matter);
    }
  }
  if (node->kind == NodeKind::kFilter) {
    while (node->inputs[0]->kind == NodeKind::kFilter) {
      node->condition = JoinAnd({node->inputs[0]->condition, node->condition});
      node->inputs[0] = node->inputs[0]->inputs[0];
    }
  }
  const bool is_sink = node->kind == NodeKind::kSink;
  const std::vector<std::string> names = is_sink ? ColumnNames(*node->inputs[0]->schema) : std::vector<std::string>{};
  for (PlanPtr& input : node->inputs) input = TidyNode(input, is_sink);
  // Unions, joins and filters take their names from below, where projects that only renamed are gone: what a sink
  // writes keeps the names of the query.
  if (is_sink && ColumnNames(*node->inputs[0]->schema) != names) {
    std::vector<ExpressionPtr> columns;
    for (size_t i = 0; i < names.size(); ++i) {
      columns.push_back(MakeColumn(static_cast<int>(i), (*node->inputs[0]->schema)[i].type));
    }
    node->inputs[0] = NewProject(node->inputs[0], std::move(columns), names);
  }
  RefreshSchema(*node);
  return node;
}

}  // namespace

ExpressionPtr Substitute(const ExpressionPtr& expression, const std::vector<ExpressionPtr>& replacements) {
  if (expression->ColumnIndex() >= 0) return replacements[static_cast<size_t>(expression->ColumnIndex())];
  std::vector<ExpressionPtr> children = expression->children();
  if (children.empty()) return expression;
  for (ExpressionPtr& child : children) {
    child = Substitute(child, replacements);
    if (child == nullptr) return nullptr;
  }
  return expression->WithChildren(std::move(children));
}

PlanPtr Tidy(PlanPtr plan) { return TidyNode(std::move(plan), true); }

}  // namespace weir
