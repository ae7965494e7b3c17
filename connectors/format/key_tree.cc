#include "connectors/format/key_tree.h"

#include "engine/base/check.h"

namespace weir {
namespace {

constexpr size_t kMaxRemembered = 256;  // places of an object
constexpr size_t kMaxKeySize = 60;      // with the quotes; less than the readable bytes behind a message

}  // namespace

JsonKey* KeyNode::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

JsonKey& KeyNode::Add(std::string_view name) {
  if (JsonKey* found = Find(name); found != nullptr) return *found;
  keys.push_back(std::make_unique<JsonKey>());
  keys.back()->name = name;
  by_name_.emplace(keys.back()->name, keys.back().get());
  return *keys.back();
}

bool KeyNode::MatchUnexpected(JsonCursor& cursor, size_t place, JsonKey*& key) {
  const std::string_view quoted = cursor.TakeToken();
  const std::string_view raw = quoted.substr(1, quoted.size() - 2);
  if (cursor.HasEscapes(raw)) {
    std::string name;
    if (const char* fault = UnescapeJson(raw, name); fault != nullptr) return cursor.Fail(fault);
    key = Find(name);
    return true;
  }
  key = Find(raw);
  if (quoted.size() > kMaxKeySize || place >= kMaxRemembered) return true;
  // Places before this one may be without a memory (a long key): a line feed matches no token.
  Expected nothing;
  nothing.Set("\n", nullptr);
  if (order_.size() <= place) order_.resize(place + 1, nothing);
  order_[place].Set(quoted, key);
  return true;
}

JsonKey& AddPath(KeyNode& root, const std::vector<std::string>& path) {
  WEIR_CHECK(!path.empty());
  KeyNode* node = &root;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    JsonKey& key = node->Add(path[i]);
    if (key.children == nullptr) key.children = std::make_unique<KeyNode>();
    node = key.children.get();
  }
  return node->Add(path.back());
}

}  // namespace weir
