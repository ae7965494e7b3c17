// ORDER BY, LIMIT and windows.

#include "sql/parse/ast_builder.h"

namespace weir {
namespace {

// The bits of WindowDef.frameOptions (PostgreSQL 15, nodes/parsenodes.h).
enum FrameBits : int64_t {
  kFrameWritten = 0x1,
  kFrameRows = 0x4,
  kFrameGroups = 0x8,
  kStartUnboundedPreceding = 0x20,
  kEndUnboundedFollowing = 0x100,
  kStartCurrentRow = 0x200,
  kEndCurrentRow = 0x400,
  kStartPreceding = 0x800,
  kEndPreceding = 0x1000,
  kStartFollowing = 0x2000,
  kEndFollowing = 0x4000,
  kExclude = 0x8000 | 0x10000 | 0x20000,
};

}  // namespace

std::vector<AstSortItem> AstBuilder::BuildSort(const std::vector<const Json*>& list) {
  std::vector<AstSortItem> items;
  for (const Json* wrapped : list) {
    const Json& node = *Unwrap(*wrapped).fields;
    NodeFields fields(node);
    AstSortItem item;
    const Json* expression = fields.Take("node");
    item.at = expression == nullptr ? LocationOf(node) : LocationOf(*Unwrap(*expression).fields);
    const std::string direction = fields.TakeText("sortby_dir");
    const std::string nulls = fields.TakeText("sortby_nulls");
    fields.Take("location");
    if (fields.Take("useOp")) Refuse(item.at, "ORDER BY ... USING is not supported; write ASC or DESC");
    RefuseUnread(fields, "ORDER BY", item.at);
    item.descending = direction == "SORTBY_DESC";
    item.nulls_first = nulls == "SORTBY_NULLS_FIRST" || (item.descending && nulls != "SORTBY_NULLS_LAST");
    if (expression != nullptr) item.expression = BuildExpression(*expression);
    if (item.expression != nullptr) items.push_back(std::move(item));
  }
  return items;
}

AstFrame AstBuilder::BuildFrame(NodeFields& fields, size_t at) {
  using Kind = AstFrameBound::Kind;
  const Json* options = fields.Take("frameOptions");
  const int64_t bits = options != nullptr && options->is_number_integer() ? options->get<int64_t>() : 0;
  const Json* start = fields.Take("startOffset");
  const Json* end = fields.Take("endOffset");
  AstFrame frame;
  frame.written = (bits & kFrameWritten) != 0;
  if (!frame.written) return frame;
  if ((bits & kFrameGroups) != 0) Refuse(at, "GROUPS in a window frame is not supported; write ROWS or RANGE");
  if ((bits & kExclude) != 0) Refuse(at, "EXCLUDE in a window frame is not supported");
  frame.mode = (bits & kFrameRows) != 0 ? AstFrame::Mode::kRows : AstFrame::Mode::kRange;
  frame.start.kind = (bits & kStartUnboundedPreceding) != 0 ? Kind::kUnboundedPreceding
                     : (bits & kStartCurrentRow) != 0       ? Kind::kCurrentRow
                     : (bits & kStartPreceding) != 0        ? Kind::kPreceding
                                                            : Kind::kFollowing;
  frame.end.kind = (bits & kEndUnboundedFollowing) != 0 ? Kind::kUnboundedFollowing
                   : (bits & kEndCurrentRow) != 0       ? Kind::kCurrentRow
                   : (bits & kEndPreceding) != 0        ? Kind::kPreceding
                                                        : Kind::kFollowing;
  if (start != nullptr) frame.start.offset = BuildExpression(*start);
  if (end != nullptr) frame.end.offset = BuildExpression(*end);
  return frame;
}

AstWindow AstBuilder::BuildWindow(const Json& node) {
  NodeFields fields(node);
  AstWindow window;
  window.at = LocationOf(node);
  window.name = fields.TakeText("name");
  window.extends = fields.TakeText("refname");
  for (const Json* wrapped : fields.TakeList("partitionClause")) {
    if (AstExpressionPtr built = BuildExpression(*wrapped)) window.partition_by.push_back(std::move(built));
  }
  window.order_by = BuildSort(fields.TakeList("orderClause"));
  window.frame = BuildFrame(fields, window.at);
  fields.Take("location");
  RefuseUnread(fields, "a window", window.at);
  return window;
}

void AstBuilder::BuildOrdering(NodeFields& fields, AstOrdering& ordering) {
  ordering.order_by = BuildSort(fields.TakeList("sortClause"));
  // LIMIT ALL is LIMIT NULL.
  if (const Json* limit = fields.Take("limitCount")) ordering.limit = BuildExpression(*limit);
  if (const Json* offset = fields.Take("limitOffset")) ordering.offset = BuildExpression(*offset);
  ordering.with_ties = fields.TakeText("limitOption") == "LIMIT_OPTION_WITH_TIES";
  for (const Json* wrapped : fields.TakeList("windowClause")) {
    ordering.windows.push_back(BuildWindow(*Unwrap(*wrapped).fields));
  }
}

}  // namespace weir
