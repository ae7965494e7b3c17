#include <algorithm>

#include "sql/plan/nodes.h"
#include "sql/plan/rules.h"

namespace weir {
namespace {

// "user_id (int) = uid (bigint)"
std::string MixedTypes(const PlanNode& join, const Expression& left, const Expression& right) {
  return left.ToString(*join.inputs[0]->schema) + " (" + left.type().ToString() +
         ") = " + right.ToString(*join.inputs[1]->schema) + " (" + right.type().ToString() + ")";
}

struct KeyPair {
  ExpressionPtr left;   // over the left input
  ExpressionPtr right;  // over the right input
  bool null_safe = false;
  std::string mixed;  // the equality, when its sides had different types
};

bool OnlyFrom(const ExpressionPtr& expression, int from, int to) {
  const std::vector<int> columns = ColumnsOf(expression);
  return !columns.empty() && columns.front() >= from && columns.back() < to;
}

// The conjunct as an equality of the two sides; false when it is none.
bool AsKeyPair(const PlanNode& join, const ExpressionPtr& conjunct, int left_width, int width, KeyPair& pair) {
  if (!conjunct->deterministic()) return false;
  const bool equal = IsCall("=", *conjunct);
  pair.null_safe = !equal && IsCall("IS NOT DISTINCT FROM", *conjunct);
  if (!equal && !pair.null_safe) return false;
  ExpressionPtr a = conjunct->children()[0];
  ExpressionPtr b = conjunct->children()[1];
  if (OnlyFrom(a, left_width, width) && OnlyFrom(b, 0, left_width)) std::swap(a, b);
  if (!OnlyFrom(a, 0, left_width) || !OnlyFrom(b, left_width, width)) return false;
  std::vector<int> to_right(static_cast<size_t>(left_width), -1);
  for (int i = 0; i < width - left_width; ++i) to_right.push_back(i);
  b = b->Remap(to_right);
  if (b == nullptr) return false;
  if (a->type() != b->type()) {
    pair.mixed = MixedTypes(join, *a, *b);
    const std::optional<DataType> common = CommonType(a->type(), b->type());
    if (!common) return false;
    Result<ExpressionPtr> cast_a = a->type() == *common ? Result<ExpressionPtr>(a) : MakeCast(a, *common);
    Result<ExpressionPtr> cast_b = b->type() == *common ? Result<ExpressionPtr>(b) : MakeCast(b, *common);
    if (!cast_a || !cast_b) return false;
    a = *cast_a;
    b = *cast_b;
  }
  pair.left = std::move(a);
  pair.right = std::move(b);
  return true;
}

// The column of the input that has the expression's value, added by a project below when there is none.
class KeyColumns {
 public:
  explicit KeyColumns(PlanPtr input)
      : input_(std::move(input)),
        expressions_(ColumnExpressions(*input_->schema)),
        names_(ColumnNames(*input_->schema)) {}

  int Place(const ExpressionPtr& expression) {
    for (size_t i = 0; i < expressions_.size(); ++i) {
      if (expressions_[i]->Signature() == expression->Signature()) return static_cast<int>(i);
    }
    expressions_.push_back(expression);
    names_.push_back(expression->ToString(*input_->schema));
    return static_cast<int>(expressions_.size() - 1);
  }
  size_t added() const { return expressions_.size() - input_->schema->size(); }
  PlanPtr Build() { return added() == 0 ? input_ : NewProject(input_, expressions_, names_); }

 private:
  PlanPtr input_;
  std::vector<ExpressionPtr> expressions_;
  std::vector<std::string> names_;
};

PlanPtr ExtractFrom(PlanPtr join) {
  if (join->condition == nullptr) return join;
  const size_t left_width = join->inputs[0]->schema->size();
  const size_t width = left_width + join->inputs[1]->schema->size();
  KeyColumns left(join->inputs[0]);
  KeyColumns right(join->inputs[1]);
  std::vector<ExpressionPtr> rest;
  for (const ExpressionPtr& conjunct : SplitAnd(join->condition)) {
    KeyPair pair;
    if (!AsKeyPair(*join, conjunct, static_cast<int>(left_width), static_cast<int>(width), pair)) {
      rest.push_back(conjunct);
      continue;
    }
    if (join->mixed_keys.empty()) join->mixed_keys = pair.mixed;
    const int left_key = left.Place(pair.left);
    const int right_key = right.Place(pair.right);
    bool known = false;
    for (size_t i = 0; i < join->left_keys.size(); ++i) {
      if (join->left_keys[i] != left_key || join->right_keys[i] != right_key) continue;
      known = true;
      if (!pair.null_safe) join->null_safe[i] = false;  // both a = b and a IS NOT DISTINCT FROM b
    }
    if (known) continue;
    join->left_keys.push_back(left_key);
    join->right_keys.push_back(right_key);
    join->null_safe.push_back(pair.null_safe);
  }
  // Added key columns shift the right side, and are dropped again above the join.
  const int shift = static_cast<int>(left.added());
  std::vector<int> mapping = Iota(left_width);
  for (size_t i = left_width; i < width; ++i) mapping.push_back(static_cast<int>(i) + shift);
  for (ExpressionPtr& conjunct : rest) conjunct = conjunct->Remap(mapping);
  join->condition = rest.empty() ? nullptr : JoinAnd(rest);
  join->inputs[0] = left.Build();
  join->inputs[1] = right.Build();
  RefreshSchema(*join);
  if (LeftColumnsOnly(join->join_type)) mapping.resize(left_width);
  return SelectColumns(std::move(join), mapping);
}

}  // namespace

PlanPtr ExtractJoinKeys(PlanPtr plan) {
  for (PlanPtr& input : plan->inputs) input = ExtractJoinKeys(input);
  RefreshSchema(*plan);
  return plan->kind == NodeKind::kJoin ? ExtractFrom(std::move(plan)) : plan;
}

}  // namespace weir
