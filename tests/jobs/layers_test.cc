// The direction of dependence, read from the includes: engine <- tables <- sql <- operators <- jobs and
// engine <- connectors <- jobs.  Nothing points upwards, operators do not include one another, connectors neither.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"engine", {"engine"}},
    {"tables", {"engine", "tables"}},
    {"sql", {"engine", "tables", "sql"}},
    {"operators", {"engine", "tables", "sql", "operators"}},
    {"connectors", {"engine", "connectors"}},
    {"jobs", {"engine", "tables", "sql", "operators", "connectors", "jobs"}},
};

// Rooms within connectors/ that the connectors share.
const std::set<std::string> kSharedByConnectors = {"format", "decode"};

struct Include {
  fs::path from;
  std::string to;
  int line;
};

std::vector<Include> IncludesOf(const std::string& room) {
  std::vector<Include> includes;
  if (!fs::exists(room)) return includes;
  for (const auto& entry : fs::recursive_directory_iterator(room)) {
    const std::string extension = entry.path().extension();
    if (extension != ".h" && extension != ".cc") continue;
    std::ifstream file(entry.path());
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      if (!text.starts_with("#include \"")) continue;
      const size_t from = text.find('"') + 1;
      includes.push_back({entry.path(), text.substr(from, text.find('"', from) - from), line});
    }
  }
  return includes;
}

std::string Part(const fs::path& path, int index) {
  auto part = path.begin();
  for (int i = 0; i < index && part != path.end(); ++i) ++part;
  return part == path.end() ? std::string() : part->string();
}

TEST(Layers, NothingPointsUpwards) {
  for (const auto& [room, allowed] : kMayInclude) {
    for (const Include& include : IncludesOf(room)) {
      EXPECT_TRUE(allowed.contains(Part(include.to, 0)))
          << include.from.string() << ":" << include.line << " includes " << include.to;
    }
  }
}

TEST(Layers, ConnectorsDoNotKnowOneAnother) {
  for (const Include& include : IncludesOf("connectors")) {
    if (Part(include.to, 0) != "connectors") continue;
    const std::string to = Part(include.to, 1);
    EXPECT_TRUE(to == Part(include.from, 1) || kSharedByConnectors.contains(to))
        << include.from.string() << ":" << include.line << " includes " << include.to;
  }
}

// An operator is a file pair or a folder below operators/; the registry knows them all.
TEST(Layers, OperatorsDoNotKnowOneAnother) {
  const std::set<std::string> operators = {"filter", "project", "join", "aggregate", "normalise", "key_order", "union"};
  const auto name_of = [](const fs::path& path) { return fs::path(Part(path, 1)).stem().string(); };
  for (const Include& include : IncludesOf("operators")) {
    const std::string from = name_of(include.from);
    const std::string to = name_of(include.to);
    if (Part(include.to, 0) != "operators" || !operators.contains(from) || !operators.contains(to)) continue;
    EXPECT_EQ(from, to) << include.from.string() << ":" << include.line << " includes " << include.to;
  }
}

TEST(Layers, EveryRoomWasRead) {
  for (const char* room : {"engine", "tables", "sql", "operators", "connectors", "jobs"}) {
    EXPECT_FALSE(IncludesOf(room).empty()) << room << " was not found from " << fs::current_path().string();
  }
}

}  // namespace
}  // namespace weir
