// The job file's sinks, replaced in its tree before they are read: nothing that comes after knows of it.
#include <fmt/format.h>

#include "jobs/job_file/job_file.h"
#include "jobs/job_file/read_sections.h"

namespace weir {
namespace {

DocumentNode Scalar(std::string text, const FilePosition& position) {
  DocumentNode node;
  node.kind = DocumentNode::Kind::kScalar;
  node.position = position;
  node.text = std::move(text);
  node.plain = false;
  return node;
}

bool IsKafka(const DocumentNode& sink) {
  const DocumentNode* connector = sink.Find("connector");
  return connector != nullptr && connector->text == "kafka";
}

// Topic and transactional id belong to one job: two that share them would fence each other off.
void AddSuffix(DocumentNode& sink, const std::string& suffix) {
  for (const char* key : {"topic", "transactional_id"}) {
    DocumentNode* node = sink.Find(key);
    if (node != nullptr && node->IsScalar()) node->text += suffix;
  }
}

DocumentNode FileSink(const std::string& path, const FilePosition& position) {
  DocumentNode node;
  node.kind = DocumentNode::Kind::kMap;
  node.position = position;
  const std::pair<const char*, std::string> members[] = {
      {"connector", "file"}, {"path", path}, {"format", "changelog_json"}};
  for (const auto& [key, text] : members) node.members.push_back({key, position, Scalar(text, position)});
  return node;
}

}  // namespace

std::string RedirectedSinkFolder(const std::string& folder, const std::string& sink) {
  std::string out = folder + "/";
  const size_t begin = out.size();
  for (const char c : sink) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || (c == '.' && out.size() == begin)) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

void RedirectSinks(DocumentNode& root, const SinkRedirection& redirection) {
  DocumentNode* sinks = root.Find("sinks");
  if (sinks == nullptr || redirection.folder.empty()) return;
  for (DocumentNode::Member& sink : sinks->members) {
    if (!redirection.topic_suffix.empty() && IsKafka(sink.value)) {
      AddSuffix(sink.value, redirection.topic_suffix);
    } else {
      sink.value = FileSink(RedirectedSinkFolder(redirection.folder, sink.key), sink.position);
    }
  }
}

}  // namespace weir
