// The declared paths of a source as a tree of keys, with a memory of the order in which keys come.
//
// Producers write the fields of their records in one order, so the key at place i of an object is first compared with
// the key that was there in the last record; only a surprise is looked up.  Keys that nobody reads are remembered too.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connectors/format/json_cursor.h"

namespace weir {

struct KeyNode;

// One key of an object.
struct JsonKey {
  std::string name;
  std::vector<int> leaves;            // declared columns whose path ends here
  std::unique_ptr<KeyNode> children;  // declared paths that go on; may be null
  bool is_row_kind = false;           // "op" of changelog_json
  int only_leaf = -1;                 // the leaf when there is nothing else: nearly always
  uint64_t row = 0;                   // the last row that had this key: finds a key that comes twice
};

struct KeyNode {
  std::vector<std::unique_ptr<JsonKey>> keys;  // only Add changes which

  JsonKey& Add(std::string_view name);
  JsonKey* Find(std::string_view name) const;

  // Takes the key at the cursor, place `place` of its object, and sets `key` (null: nobody reads it).
  // False when an escape in the key is wrong; the cursor has the error.  REQUIRES: cursor.Peek() == '"'
  bool Match(JsonCursor& cursor, size_t place, JsonKey*& key) {
    if (place < order_.size()) {
      const Expected& expected = order_[place];
      if (expected.StandsAt(cursor.here())) {
        cursor.Advance();
        key = expected.key;
        return true;
      }
    }
    return MatchUnexpected(cursor, place, key);
  }

 private:
  // A key with both quotes, compared word by word: a call of memcmp costs more than the few words.
  struct Expected {
    std::string quoted;  // filled up to whole words
    uint64_t last = 0;   // which bits of the last word count
    JsonKey* key = nullptr;

    void Set(std::string_view text, JsonKey* named) {
      quoted = text;
      key = named;
      last = ~uint64_t{0};
      char* const bytes = reinterpret_cast<char*>(&last);
      for (; quoted.size() % sizeof last != 0; quoted += '\0') bytes[quoted.size() % sizeof last] = 0;
    }
    // Reading beyond the text is safe: remembered keys are shorter than the padding behind it.
    bool StandsAt(const char* text) const {
      const char* const end = quoted.data() + quoted.size() - sizeof last;
      const char* at = quoted.data();
      for (; at != end; at += sizeof last, text += sizeof last) {
        if (Word(at) != Word(text)) return false;
      }
      return (Word(at) ^ (Word(text) & last)) == 0;
    }

   private:
    static uint64_t Word(const char* from) {
      uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      return word;
    }
  };
  bool MatchUnexpected(JsonCursor& cursor, size_t place, JsonKey*& key);

  std::vector<Expected> order_;
  std::unordered_map<std::string_view, JsonKey*> by_name_;
};

// The key at the end of `path`, made where it is missing.
JsonKey& AddPath(KeyNode& root, const std::vector<std::string>& path);

}  // namespace weir
