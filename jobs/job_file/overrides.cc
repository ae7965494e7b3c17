// --set: changes of the command line to the job file's tree, before it is read.
#include <fmt/format.h>

#include <charconv>

#include "jobs/job_file/document.h"
#include "sql/plan/suggest.h"

namespace weir {
namespace {

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (true) {
    const size_t dot = path.find('.', from);
    parts.push_back(path.substr(from, dot == std::string::npos ? dot : dot - from));
    if (dot == std::string::npos) return parts;
    from = dot + 1;
  }
}

void SetPositions(DocumentNode& node, const FilePosition& position) {
  node.position = position;
  for (DocumentNode& item : node.items) SetPositions(item, position);
  for (DocumentNode::Member& member : node.members) {
    member.position = position;
    SetPositions(member.value, position);
  }
}

std::vector<std::string> KeysOf(const DocumentNode& node) {
  std::vector<std::string> keys;
  for (const DocumentNode::Member& member : node.members) keys.push_back(member.key);
  return keys;
}

bool HasPath(const DocumentNode& node, const std::vector<std::string>& parts, size_t at) {
  const DocumentNode* found = &node;
  for (; at < parts.size(); ++at) {
    found = found->Find(parts[at]);
    if (found == nullptr) return false;
  }
  return true;
}

class Override {
 public:
  Override(std::vector<std::string> parts, DocumentNode value, FilePosition position, Diagnostics& out)
      : parts_(std::move(parts)), value_(std::move(value)), position_(std::move(position)), out_(out) {}

  void Apply(DocumentNode& node, size_t at) {
    const std::string& part = parts_[at];
    if (node.IsList()) return ApplyToItem(node, at);
    if (node.IsNull() && MayCreate(at)) node.kind = DocumentNode::Kind::kMap;
    if (!node.IsMap()) {
      return out_.Add(position_, at == 0 ? "the job file is empty" : fmt::format("{} has no keys", parts_[at - 1]));
    }
    if (part == "*") return ApplyToAll(node, at);
    const bool last = at + 1 == parts_.size();
    DocumentNode* next = node.Find(part);
    if (next == nullptr) {
      if (!last && !(at == 0 && part == "options") && !MayCreate(at)) {
        return out_.Add(position_, fmt::format("the job file has no {}{}", part, DidYouMean(part, KeysOf(node))));
      }
      node.members.push_back({part, position_, {}});
      next = &node.members.back().value;
      next->position = position_;
    }
    if (last) {
      *next = value_;
      return;
    }
    Apply(*next, at + 1);
  }

 private:
  // Sections of options may be absent; names of sources and sinks may not.
  bool MayCreate(size_t at) const { return at > 0 && parts_[0] == "options"; }

  void ApplyToAll(DocumentNode& node, size_t at) {
    if (at + 1 == parts_.size()) return out_.Add(position_, "a path ends with a key, not with *");
    bool found = false;
    for (DocumentNode::Member& member : node.members) {
      if (!HasPath(member.value, parts_, at + 1)) continue;
      found = true;
      Apply(member.value, at + 1);
    }
    if (!found) out_.Add(position_, fmt::format("none of them has the key {}", parts_.back()));
  }

  void ApplyToItem(DocumentNode& node, size_t at) {
    size_t index = 0;
    const std::string& part = parts_[at];
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    if (error != std::errc() || end != part.data() + part.size() || index >= node.items.size()) {
      return out_.Add(position_,
                      fmt::format("{} is a list of {}; {} is no index of it", parts_[at - 1], node.items.size(), part));
    }
    if (at + 1 == parts_.size()) {
      node.items[index] = value_;
    } else {
      Apply(node.items[index], at + 1);
    }
  }

  std::vector<std::string> parts_;
  DocumentNode value_;
  FilePosition position_;
  Diagnostics& out_;
};

}  // namespace

void ApplyOverride(DocumentNode& root, const std::string& assignment, Diagnostics& out) {
  const FilePosition position{0, 0, fmt::format("--set {}", assignment)};
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return out.Add(position, "expected PATH=VALUE, for example options.parallelism=4");
  }
  Diagnostics syntax("");
  DocumentNode value = ParseDocument(assignment.substr(equals + 1), syntax);
  if (!syntax.empty()) return out.Add(position, syntax.Errors().front().message);
  SetPositions(value, position);
  Override(SplitPath(assignment.substr(0, equals)), std::move(value), position, out).Apply(root, 0);
}

}  // namespace weir
