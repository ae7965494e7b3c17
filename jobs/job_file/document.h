// The job file as a tree of values with their places, before anything is known about their meaning.
//
// yaml-cpp reads; this copy is what the command line's --set and the environment may change, and it keeps keys that are
// given twice out.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/job_file/diagnostics.h"
#include "jobs/job_file/written_text.h"

namespace weir {

struct DocumentNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  struct Member;

  Kind kind = Kind::kNull;
  FilePosition position;
  std::string text;   // kScalar
  bool plain = true;  // kScalar: neither quoted nor a block
  WrittenText written;  // kScalar: before ${VAR} was filled in
  std::string problem;  // kScalar: why ${VAR} could not be filled in; it was reported, and the text has no meaning
  std::vector<DocumentNode> items;
  std::vector<Member> members;  // kMap, in the order of the file

  bool IsMap() const { return kind == Kind::kMap; }
  bool IsList() const { return kind == Kind::kList; }
  bool IsScalar() const { return kind == Kind::kScalar; }
  bool IsNull() const { return kind == Kind::kNull; }
  const DocumentNode* Find(std::string_view key) const;
  DocumentNode* Find(std::string_view key);
};

struct DocumentNode::Member {
  std::string key;
  FilePosition position;  // of the key
  DocumentNode value;
};

// Looks up an environment variable; injected, so that a test owns the environment.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment ProcessEnvironment();

// Parses the text; syntax errors, tabs in the indentation and repeated keys go to `out`.
DocumentNode ParseDocument(std::string_view text, Diagnostics& out);

// Fills ${VAR:-default} into all scalars.  A variable that is not set and has no default is an error; so is a ${ that
// never ends.
void FillEnvironment(DocumentNode& node, const Environment& environment, Diagnostics& out);

// Applies one `a.b=c` of --set.  The value is YAML; a star stands for all sources (sinks, tables) that have the rest of
// the path.  Maps on the way must exist, except those below options.
void ApplyOverride(DocumentNode& root, const std::string& assignment, Diagnostics& out);

}  // namespace weir
