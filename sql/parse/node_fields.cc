#include "sql/parse/ast_builder.h"

#include <utility>

namespace weir {

NodeFields::NodeFields(const Json& node) : node_(node) {}

const Json* NodeFields::Take(const char* name) {
  read_.insert(name);
  const auto found = node_.find(name);
  return found == node_.end() || found->is_null() ? nullptr : &*found;
}

bool NodeFields::TakeFlag(const char* name) {
  const Json* field = Take(name);
  return field != nullptr && field->is_boolean() && field->get<bool>();
}

std::string NodeFields::TakeText(const char* name) {
  const Json* field = Take(name);
  return field != nullptr && field->is_string() ? field->get<std::string>() : std::string();
}

std::vector<const Json*> NodeFields::TakeList(const char* name) {
  std::vector<const Json*> list;
  const Json* field = Take(name);
  if (field != nullptr && field->is_array()) {
    for (const Json& item : *field) list.push_back(&item);
  }
  return list;
}

std::vector<std::string> NodeFields::Unread() const {
  std::vector<std::string> names;
  for (auto it = node_.begin(); it != node_.end(); ++it) {
    if (read_.count(it.key()) == 0) names.push_back(it.key());
  }
  return names;
}

NamedNode Unwrap(const Json& wrapped) {
  if (!wrapped.is_object() || wrapped.empty()) return {{}, &wrapped};
  return {wrapped.begin().key(), &wrapped.begin().value()};
}

std::vector<std::string> StringsOf(const std::vector<const Json*>& list) {
  std::vector<std::string> strings;
  for (const Json* item : list) {
    const NamedNode node = Unwrap(*item);
    std::string text;
    if (node.name == "String") {
      NodeFields fields(*node.fields);
      text = fields.TakeText("sval");
    }
    strings.push_back(std::move(text));
  }
  return strings;
}

namespace {

void CollectLocations(const Json& node, size_t& smallest, size_t& largest, bool& any) {
  if (node.is_array()) {
    for (const Json& item : node) CollectLocations(item, smallest, largest, any);
  } else if (node.is_object()) {
    for (auto it = node.begin(); it != node.end(); ++it) {
      if (it.key() == "location" && it->is_number_integer()) {
        const auto at = it->get<int64_t>();
        if (at < 0) continue;
        smallest = any ? std::min(smallest, static_cast<size_t>(at)) : static_cast<size_t>(at);
        largest = any ? std::max(largest, static_cast<size_t>(at)) : static_cast<size_t>(at);
        any = true;
      } else {
        CollectLocations(*it, smallest, largest, any);
      }
    }
  }
}

}  // namespace

size_t AstBuilder::LocationOf(const Json& node) {
  if (node.is_object()) {
    const auto own = node.find("location");
    if (own != node.end() && own->is_number_integer() && own->get<int64_t>() >= 0) return own->get<size_t>();
  }
  size_t smallest = 0;
  size_t largest = 0;
  bool any = false;
  CollectLocations(node, smallest, largest, any);
  return smallest;
}

size_t AstBuilder::LastLocationOf(const Json& node) {
  size_t smallest = 0;
  size_t largest = 0;
  bool any = false;
  CollectLocations(node, smallest, largest, any);
  return largest;
}

std::nullptr_t AstBuilder::Refuse(size_t at, std::string message) {
  errors_.push_back({at, std::move(message)});
  return nullptr;
}

std::nullptr_t AstBuilder::RefuseDepth(const Json& node, std::string message) {
  if (std::exchange(too_deep_, true)) return nullptr;
  return Refuse(LocationOf(node), std::move(message));
}

void AstBuilder::RefuseUnread(const NodeFields& fields, const char* what, size_t at) {
  for (const std::string& name : fields.Unread()) {
    Refuse(at, std::string("this form of ") + what + " is not supported (" + name + ")");
  }
}

}  // namespace weir
