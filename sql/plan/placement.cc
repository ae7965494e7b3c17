#include "sql/plan/placement.h"

#include <algorithm>

#include "sql/plan/nodes.h"

namespace weir {
namespace {

constexpr size_t kMaxKeys = 8;

std::vector<int> Shifted(std::vector<int> columns, int by) {
  for (int& column : columns) column += by;
  return columns;
}

// The columns in the output of a projection; empty when one is missing.
std::vector<int> Renumbered(const std::vector<int>& columns, const std::vector<int>& mapping) {
  std::vector<int> renumbered;
  for (const int column : columns) {
    if (mapping[static_cast<size_t>(column)] < 0) return {};
    renumbered.push_back(mapping[static_cast<size_t>(column)]);
  }
  return renumbered;
}

struct JoinKeys {
  const PlanNode& join;
  std::vector<UniqueKey> left;
  std::vector<UniqueKey> right;    // renumbered for the output
  std::vector<int> left_columns;   // of the equalities
  std::vector<int> right_columns;  // renumbered
};

const UniqueKey* KeyWithin(const std::vector<UniqueKey>& keys, const std::vector<int>& columns) {
  const UniqueKey* found = nullptr;
  for (const UniqueKey& key : keys) {
    if (!IsSubset(key.columns, columns)) continue;
    if (found == nullptr || (key.strict && !found->strict)) found = &key;
  }
  return found;
}

// The key without the columns of `drop` whose partner in `keep` it has.
UniqueKey WithoutPartners(UniqueKey key, const std::vector<int>& keep, const std::vector<int>& drop) {
  for (size_t i = 0; i < keep.size(); ++i) {
    if (Contains(key.columns, keep[i])) std::erase(key.columns, drop[i]);
  }
  return key;
}

// The key with columns of `from` replaced by their partners.
UniqueKey WithPartners(UniqueKey key, const std::vector<int>& from, const std::vector<int>& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    for (int& column : key.columns) column = column == from[i] ? to[i] : column;
  }
  std::sort(key.columns.begin(), key.columns.end());
  key.columns.erase(std::unique(key.columns.begin(), key.columns.end()), key.columns.end());
  return key;
}

void AddPairs(const JoinKeys& keys, Placement& output) {
  const JoinType type = keys.join.join_type;
  const bool inner = type == JoinType::kInner;
  for (const UniqueKey& left : keys.left) {
    for (const UniqueKey& right : keys.right) {
      UniqueKey both{left.columns, left.strict && right.strict};
      both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
      // A row extended with NULL has no partner's value: only columns of the side that is always there may stand for
      // both.
      if (inner || type == JoinType::kLeft) {
        output.keys.push_back(WithoutPartners(both, keys.left_columns, keys.right_columns));
      }
      if (inner || type == JoinType::kRight) {
        output.keys.push_back(WithoutPartners(both, keys.right_columns, keys.left_columns));
      }
      if (type == JoinType::kFull) output.keys.push_back(both);
    }
  }
}

void AddSides(const JoinKeys& keys, Placement& output) {
  const JoinType type = keys.join.join_type;
  const bool inner = type == JoinType::kInner;
  const UniqueKey* one_right = KeyWithin(keys.right, keys.right_columns);
  const UniqueKey* one_left = KeyWithin(keys.left, keys.left_columns);
  if (one_right != nullptr && (inner || type == JoinType::kLeft)) {
    for (UniqueKey key : keys.left) {
      key.strict = key.strict && one_right->strict;
      output.keys.push_back(key);
      if (inner) output.keys.push_back(WithPartners(key, keys.left_columns, keys.right_columns));
    }
  }
  if (one_left != nullptr && (inner || type == JoinType::kRight)) {
    for (UniqueKey key : keys.right) {
      key.strict = key.strict && one_left->strict;
      output.keys.push_back(key);
      if (inner) output.keys.push_back(WithPartners(key, keys.right_columns, keys.left_columns));
    }
  }
}

}  // namespace

bool Placement::OrderedBy(const std::vector<int>& key) const {
  if (single) return true;
  if (!source_order.empty() && IsSubset(source_order, key)) return true;
  return std::any_of(hashed.begin(), hashed.end(),
                     [&](const std::vector<int>& columns) { return IsSubset(columns, key); }) ||
         std::any_of(bucketed.begin(), bucketed.end(),
                     [&](const BucketedBy& by) { return IsSubset(by.columns, key); });
}

void Placement::TidyKeys() {
  for (UniqueKey& key : keys) {
    std::sort(key.columns.begin(), key.columns.end());
    key.columns.erase(std::unique(key.columns.begin(), key.columns.end()), key.columns.end());
  }
  std::stable_sort(keys.begin(), keys.end(), [](const UniqueKey& a, const UniqueKey& b) {
    if (a.columns.size() != b.columns.size()) return a.columns.size() < b.columns.size();
    return a.strict && !b.strict;
  });
  std::vector<UniqueKey> kept;
  for (UniqueKey& key : keys) {
    const bool implied = std::any_of(kept.begin(), kept.end(), [&](const UniqueKey& other) {
      return IsSubset(other.columns, key.columns) && (other.strict || !key.strict);
    });
    if (!implied && kept.size() < kMaxKeys) kept.push_back(std::move(key));
  }
  keys = std::move(kept);
}

Placement Placement::Project(const std::vector<ExpressionPtr>& expressions) const {
  std::vector<int> mapping;
  for (size_t i = 0; i < expressions.size(); ++i) {
    const int column = expressions[i]->ForwardedColumn();
    if (column < 0) continue;
    if (mapping.size() <= static_cast<size_t>(column)) mapping.resize(static_cast<size_t>(column) + 1, -1);
    int& to = mapping[static_cast<size_t>(column)];
    if (to < 0) to = static_cast<int>(i);
  }
  int last = -1;
  const auto widest = [&](const std::vector<int>& columns) {
    for (const int column : columns) last = std::max(last, column);
  };
  widest(source_order);
  for (const auto& columns : hashed) widest(columns);
  for (const BucketedBy& by : bucketed) widest(by.columns);
  for (const UniqueKey& key : keys) widest(key.columns);
  if (mapping.size() <= static_cast<size_t>(last + 1)) mapping.resize(static_cast<size_t>(last + 1), -1);

  Placement output;
  output.single = single;
  output.source_order = Renumbered(source_order, mapping);
  for (const std::vector<int>& columns : hashed) {
    std::vector<int> renumbered = Renumbered(columns, mapping);
    if (!renumbered.empty()) output.hashed.push_back(std::move(renumbered));
  }
  for (const BucketedBy& by : bucketed) {
    std::vector<int> renumbered = Renumbered(by.columns, mapping);
    if (!renumbered.empty()) output.bucketed.push_back({std::move(renumbered), by.buckets});
  }
  for (const UniqueKey& key : keys) {
    std::vector<int> renumbered = Renumbered(key.columns, mapping);
    if (!renumbered.empty() || key.columns.empty()) output.keys.push_back({std::move(renumbered), key.strict});
  }
  return output;
}

Placement JoinPlacement(const PlanNode& join, const Placement& left, const Placement& right) {
  const int left_width = static_cast<int>(join.inputs[0]->schema->size());
  const JoinType type = join.join_type;
  JoinKeys keys{join, left.keys, right.keys, join.left_keys, Shifted(join.right_keys, left_width)};
  for (UniqueKey& key : keys.right) key.columns = Shifted(std::move(key.columns), left_width);
  Placement output;
  output.single = join.left_keys.empty();
  // A row extended with NULL is in the task of the key of the side it comes from.
  const bool by_left = type != JoinType::kRight && type != JoinType::kFull;
  const bool by_right = type == JoinType::kInner || type == JoinType::kRight;
  if (join.strategy == JoinStrategy::kDelta) {
    const auto bucketed = [&](const TableRef& table, int shift) {
      output.bucketed.push_back({Shifted(table.bucket_columns, shift), table.buckets});
    };
    if (by_left) bucketed(join.left_table, 0);
    if (by_right) bucketed(join.right_table, left_width);
  } else if (!join.left_keys.empty()) {
    if (by_left) output.hashed.push_back(keys.left_columns);
    if (by_right) output.hashed.push_back(keys.right_columns);
  }
  if (LeftColumnsOnly(type)) {
    output.keys = left.keys;
  } else {
    AddSides(keys, output);
    AddPairs(keys, output);
  }
  output.TidyKeys();
  return output;
}

std::vector<UniqueKey> RankKeys(const PlanNode& rank, const std::vector<UniqueKey>& input) {
  std::vector<UniqueKey> keys;
  const bool row_number = rank.rank.function == OverFunction::kRowNumber;
  const auto number = static_cast<int>(rank.inputs[0]->schema->size());
  if (row_number && rank.rank.from == rank.rank.to) keys.push_back({rank.partition, true});
  if (row_number && rank.rank.output) {
    keys.push_back({rank.partition, true});
    keys.back().columns.push_back(number);
  }
  for (UniqueKey key : input) {
    // Rows that go are taken back before others come, but a row whose number changes passes its neighbours.
    key.strict = key.strict && !(row_number && (rank.rank.output || rank.rank.from == rank.rank.to));
    keys.push_back(std::move(key));
  }
  return keys;
}

// An element is known by its row and its place.
std::vector<UniqueKey> UnnestKeys(const PlanNode& node, std::vector<UniqueKey> keys) {
  if (!node.ordinality) return {};
  for (UniqueKey& key : keys) key.columns.push_back(static_cast<int>(node.schema->size()) - 1);
  return keys;
}

std::vector<UniqueKey> LogicalKeys(const PlanNode& node, const Catalog& catalog) {
  Placement placement;
  switch (node.kind) {
    case NodeKind::kScan: {
      const CatalogRelation& relation = *catalog.Find(node.relation);
      if (relation.changelog == ChangelogMode::kAppend || relation.primary_key.empty()) return {};
      std::vector<int> places(relation.schema.size(), -1);
      for (size_t i = 0; i < node.scan_columns.size(); ++i) {
        places[static_cast<size_t>(node.scan_columns[i])] = static_cast<int>(i);
      }
      std::vector<int> key = Renumbered(relation.primary_key, places);
      return key.empty() ? std::vector<UniqueKey>{} : std::vector<UniqueKey>{{std::move(key), true}};
    }
    case NodeKind::kFilter:
    case NodeKind::kExchange:
    case NodeKind::kKeyOrder:
      return LogicalKeys(*node.inputs[0], catalog);
    case NodeKind::kProject:
      placement.keys = LogicalKeys(*node.inputs[0], catalog);
      return placement.Project(node.expressions).keys;
    case NodeKind::kJoin: {
      Placement right;
      placement.keys = LogicalKeys(*node.inputs[0], catalog);
      right.keys = LogicalKeys(*node.inputs[1], catalog);
      return JoinPlacement(node, placement, right).keys;
    }
    case NodeKind::kRank:
      placement.keys = RankKeys(node, LogicalKeys(*node.inputs[0], catalog));
      placement.TidyKeys();
      return placement.keys;
    case NodeKind::kOver:
      return LogicalKeys(*node.inputs[0], catalog);
    case NodeKind::kAggregate:
      return {{AggregateKey(node), true}};
    case NodeKind::kNormalise:
    case NodeKind::kTable:
      if (node.key.empty()) return {};  // a log table
      return {{node.key, true}};
    case NodeKind::kTemporalJoin:
      return LogicalKeys(*node.inputs[0], catalog);
    case NodeKind::kUnnest:
      return UnnestKeys(node, LogicalKeys(*node.inputs[0], catalog));
    case NodeKind::kUnion:
    case NodeKind::kLateRows:
    case NodeKind::kSink:
    case NodeKind::kValues:
    case NodeKind::kWindow:
    case NodeKind::kLocalAggregate:
      break;
  }
  return {};
}

}  // namespace weir
