#include "jobs/replay/replay_json.h"

#include <nlohmann/json.hpp>

namespace weir {
namespace {

// Builds the tree from nlohmann's events; numbers arrive with their text only when they are no 64-bit integers, which
// is when it matters.
class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    ReplayJson json;
    json.kind = ReplayJson::Kind::kBool;
    json.boolean = value;
    return Add(std::move(json));
  }
  bool number_integer(number_integer_t value) override { return Number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Number(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Number(text); }
  bool string(string_t& value) override {
    ReplayJson json;
    json.kind = ReplayJson::Kind::kString;
    json.text = std::move(value);
    return Add(std::move(json));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(ReplayJson::Kind::kObject); }
  bool start_array(size_t) override { return Open(ReplayJson::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    keys_.back() = std::move(value);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) override {
    error_ = error.what();
    return false;
  }

  std::optional<ReplayJson> Take() { return std::move(root_); }
  const std::string& error() const { return error_; }

 private:
  bool Number(std::string text) {
    ReplayJson json;
    json.kind = ReplayJson::Kind::kNumber;
    json.text = std::move(text);
    return Add(std::move(json));
  }
  bool Open(ReplayJson::Kind kind) {
    ReplayJson json;
    json.kind = kind;
    open_.push_back(std::move(json));
    keys_.emplace_back();
    return true;
  }
  bool Close() {
    ReplayJson json = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return Add(std::move(json));
  }
  bool Add(ReplayJson json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (open_.back().kind == ReplayJson::Kind::kArray) {
      open_.back().items.push_back(std::move(json));
    } else {
      open_.back().members.emplace_back(keys_.back(), std::move(json));
    }
    return true;
  }

  std::optional<ReplayJson> root_;
  std::vector<ReplayJson> open_;
  std::vector<std::string> keys_;
  std::string error_;
};

}  // namespace

const ReplayJson* ReplayJson::Find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<ReplayJson> ParseReplayJson(std::string_view line, std::string& error) {
  TreeBuilder builder;
  try {
    if (nlohmann::json::sax_parse(line.begin(), line.end(), &builder)) return builder.Take();
    error = builder.error();
  } catch (const std::exception& exception) {
    error = exception.what();
  }
  // "[json.exception.parse_error.101] parse error at line 1, column 5: ..." says it from "column" on.
  const size_t at = error.find("column ");
  error = "not JSON" + (at == std::string::npos ? std::string() : " at " + error.substr(at));
  return std::nullopt;
}

}  // namespace weir
