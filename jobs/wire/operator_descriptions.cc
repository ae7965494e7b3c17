#include "jobs/wire/operator_descriptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/plan/node_text.h"

namespace weir {
namespace {

// What a line of a terminal has room for, behind the error itself.
constexpr size_t kTitleBytes = 120;

std::string Clipped(std::string text) {
  if (text.size() <= kTitleBytes) return text;
  size_t end = kTitleBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

OperatorDescriptions::OperatorDescriptions(const PlannedJob& job) : file_(job.file) {
  for (const PlanPtr& sink : job.plan.sinks) Visit(sink, sink->query);
}

void OperatorDescriptions::Visit(const PlanPtr& node, size_t query) {
  if (query >= file_.queries.size()) return;
  std::vector<size_t>& queries = queries_[node.get()];
  if (std::find(queries.begin(), queries.end(), query) != queries.end()) return;
  queries.push_back(query);
  for (const PlanPtr& input : node->inputs) Visit(input, query);
}

std::string OperatorDescriptions::QueryText(size_t query) const {
  const QueryDeclaration& declared = file_.queries[query];
  const FilePosition& position = declared.position;
  const std::string name = declared.name.empty() ? "the query" : "query " + declared.name;
  if (!position.origin.empty()) return fmt::format("{} of {}", name, position.origin);
  return fmt::format("{} at {}:{}:{}", name, file_.path, position.line, position.column);
}

std::string OperatorDescriptions::Of(const PlanNode& node) const {
  const auto found = queries_.find(&node);
  if (found == queries_.end()) return node.id;
  const std::vector<size_t>& queries = found->second;
  std::string text = fmt::format("{} of {}", node.id, QueryText(queries.front()));
  if (queries.size() > 1) text += fmt::format(" and {} more", queries.size() - 1);
  if (node.kind == NodeKind::kSink) return text;
  return text + ": " + Clipped(DescribeNode(node).title);
}

}  // namespace weir
