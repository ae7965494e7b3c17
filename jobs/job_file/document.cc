#include "jobs/job_file/document.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace weir {
namespace {

// yaml-cpp counts bytes from 0; people and editors count characters from 1.
class Places {
 public:
  explicit Places(std::string_view text) {
    size_t from = 0;
    while (from <= text.size()) {
      const size_t end = std::min(text.find('\n', from), text.size());
      lines_.push_back(text.substr(from, end - from));
      from = end + 1;
    }
  }
  const std::vector<std::string_view>& lines() const { return lines_; }
  FilePosition At(const YAML::Mark& mark) const {
    if (mark.is_null()) return {};
    return At(static_cast<size_t>(mark.line), static_cast<size_t>(mark.column));
  }
  FilePosition At(size_t line, size_t byte) const {
    size_t column = 1;
    if (line < lines_.size()) {
      for (size_t i = 0; i < byte; ++i) {
        const bool continuation = i < lines_[line].size() && (lines_[line][i] & 0xC0) == 0x80;
        if (!continuation) ++column;
      }
    }
    return {static_cast<int>(line) + 1, static_cast<int>(column), {}};
  }

 private:
  std::vector<std::string_view> lines_;
};

DocumentNode Copy(const YAML::Node& from, const Places& places, Diagnostics& out) {
  DocumentNode node;
  node.position = places.At(from.Mark());
  switch (from.Type()) {
    case YAML::NodeType::Scalar:
      node.kind = DocumentNode::Kind::kScalar;
      node.text = from.Scalar();
      node.plain = from.Tag() == "?" || from.Tag().empty();
      break;
    case YAML::NodeType::Sequence:
      node.kind = DocumentNode::Kind::kList;
      for (const auto& item : from) node.items.push_back(Copy(item, places, out));
      break;
    case YAML::NodeType::Map: {
      node.kind = DocumentNode::Kind::kMap;
      std::unordered_map<std::string, int> lines;  // of the keys so far
      for (const auto& member : from) {
        const FilePosition position = places.At(member.first.Mark());
        if (!member.first.IsScalar()) {
          out.Add(position, "a key must be a plain word");
          continue;
        }
        const std::string& key = member.first.Scalar();
        if (const auto [first, is_new] = lines.emplace(key, position.line); !is_new) {
          out.Add(position, fmt::format("key {} is given twice; the first is in line {}", key, first->second));
          continue;
        }
        node.members.push_back({key, position, Copy(member.second, places, out)});
        // An empty value has no place of its own.
        if (node.members.back().value.IsNull()) node.members.back().value.position = position;
      }
      break;
    }
    default:
      break;
  }
  return node;
}

void ReportTabs(const Places& places, Diagnostics& out) {
  const auto& lines = places.lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t first = lines[i].find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    const size_t tab = lines[i].substr(0, first).find('\t');
    if (tab != std::string_view::npos) {
      out.Add(places.At(i, tab), "a tab in the indentation; YAML wants spaces");
    }
  }
}

// yaml-cpp's sentences, where its own say little to somebody who only writes job files.
std::string SyntaxMessage(const std::string& text) { return fmt::format("not valid YAML: {}", text); }

}  // namespace

const DocumentNode* DocumentNode::Find(std::string_view key) const {
  for (const Member& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

DocumentNode* DocumentNode::Find(std::string_view key) {
  return const_cast<DocumentNode*>(static_cast<const DocumentNode*>(this)->Find(key));
}

Environment ProcessEnvironment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

DocumentNode ParseDocument(std::string_view text, Diagnostics& out) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const Places places(text);
  const size_t before = out.size();
  ReportTabs(places, out);
  if (out.size() != before) return {};  // yaml-cpp would report the tab again, in other words
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return {};
    if (documents.size() > 1) out.Add(places.At(documents[1].Mark()), "a job file is one YAML document");
    return Copy(documents.front(), places, out);
  } catch (const YAML::Exception& error) {
    out.Add(places.At(error.mark), SyntaxMessage(error.msg));
  } catch (const std::exception& error) {
    out.Add({}, SyntaxMessage(error.what()));
  }
  return {};
}

namespace {

void FailToFill(DocumentNode& node, std::string problem, Diagnostics& out) {
  out.Add(node.position, problem);
  node.problem = std::move(problem);
}

void FillScalar(DocumentNode& node, const Environment& environment, Diagnostics& out) {
  std::string filled;
  WrittenText written;
  size_t from = 0;
  while (true) {
    const size_t open = node.text.find("${", from);
    if (open == std::string::npos) break;
    filled.append(node.text, from, open - from);
    const size_t close = node.text.find('}', open);
    if (close == std::string::npos) return FailToFill(node, "${ without its }", out);
    const size_t at = filled.size();
    const std::string inside = node.text.substr(open + 2, close - open - 2);
    const size_t separator = inside.find(":-");
    const std::string name = inside.substr(0, separator);
    const std::optional<std::string> value = environment(name);
    if (value && !(value->empty() && separator != std::string::npos)) {
      filled += *value;
    } else if (separator != std::string::npos) {
      filled += inside.substr(separator + 2);
    } else {
      return FailToFill(
          node, fmt::format("the environment variable {} is not set; write ${{{}:-default}} to give it a default", name, name),
          out);
    }
    from = close + 1;
    written.variables.push_back({at, filled.size() - at, open, from - open});
  }
  if (from == 0) return;
  filled.append(node.text, from);
  written.text = std::exchange(node.text, std::move(filled));
  node.written = std::move(written);
}

}  // namespace

void FillEnvironment(DocumentNode& node, const Environment& environment, Diagnostics& out) {
  if (node.IsScalar()) FillScalar(node, environment, out);
  for (DocumentNode& item : node.items) FillEnvironment(item, environment, out);
  for (DocumentNode::Member& member : node.members) FillEnvironment(member.value, environment, out);
}

}  // namespace weir
