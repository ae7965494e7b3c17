#include "sql/plan/state_backend.h"

#include <algorithm>

namespace weir {
namespace {

// Its rows go with their windows, which state in memory does alone; they are few.
bool IsWindowJoin(const PlanNode& join) {
  const std::vector<int>& keys = join.left_keys;
  return join.left_expiry && join.right_expiry &&
         std::find(keys.begin(), keys.end(), join.left_expiry->column) != keys.end();
}

}  // namespace

bool MayKeepStateInRocksDb(const PlanNode& node) {
  return node.kind == NodeKind::kJoin && node.strategy != JoinStrategy::kDelta && !IsWindowJoin(node);
}

}  // namespace weir
