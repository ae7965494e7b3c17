// 1. Walk over words and signs in the order of the text, outside of literals and comments.
// 2. Every pair of parentheses has a count of the operators in it since its last comma: operators on both sides of a
//    comma never nest.  A pair that closes adds the largest of its counts to the pair around it.
// 3. UNIONs and JOINs, which nest across commas, are counted over the whole text.
#include "sql/parse/limits.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir {
namespace {

constexpr size_t kMaxParentheses = 500;
constexpr size_t kMaxOperators = 10'000;
constexpr size_t kMaxTableOperators = 1000;

constexpr std::array<std::string_view, 13> kWordOperators = {"and", "or",   "not",   "is",      "in",     "like", "ilike",
                                                             "at",  "then", "isnull", "notnull", "collate", "between"};
constexpr std::array<std::string_view, 4> kTableOperators = {"union", "intersect", "except", "join"};

template <size_t kCount>
bool IsOneOf(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsOperatorSign(char sign) { return std::string_view("+-*/%<>=~!@#^&|?:[").find(sign) != std::string_view::npos; }

class Walk {
 public:
  std::optional<PlacedMessage> Word(size_t at, std::string_view lower) {
    last_sign_ = 0;
    if (IsOneOf(lower, kWordOperators)) return Operator(at);
    if (!IsOneOf(lower, kTableOperators) || ++table_operators_ <= kMaxTableOperators) return std::nullopt;
    return PlacedMessage{at, "the query has more than " + std::to_string(kMaxTableOperators) +
                                 " UNIONs and JOINs; divide it into several queries"};
  }

  // `next` is what follows the sign in the text.
  std::optional<PlacedMessage> Sign(size_t at, char sign, char next) {
    const char before = std::exchange(last_sign_, sign);
    const bool adjacent = std::exchange(last_at_, at) + 1 == at;
    if (sign == '(') {
      open_.push_back({});
      if (open_.size() - 1 <= kMaxParentheses) return std::nullopt;
      return PlacedMessage{at, "parentheses are nested more than " + std::to_string(kMaxParentheses) + " deep"};
    }
    if (sign == ')' && open_.size() > 1) {
      const size_t inside = std::max(open_.back().largest, open_.back().count);
      open_.pop_back();
      open_.back().count += inside;
    }
    if (sign == ',') {
      open_.back().largest = std::max(open_.back().largest, open_.back().count);
      open_.back().count = 0;
    }
    if (!IsOperatorSign(sign)) return std::nullopt;
    if (adjacent && IsOperatorSign(before)) return std::nullopt;  // the rest of <= or ||
    const bool sign_of_number = (sign == '-' || sign == '+') && (before == ',' || before == '(') && next >= '0' && next <= '9';
    return sign_of_number ? std::nullopt : Operator(at);
  }

 private:
  struct Pair {
    size_t count = 0;    // since the last comma
    size_t largest = 0;  // of the parts before it
  };

  std::optional<PlacedMessage> Operator(size_t at) {
    if (++open_.back().count <= kMaxOperators) return std::nullopt;
    return PlacedMessage{at, "an expression has more than " + std::to_string(kMaxOperators) +
                                 " operators here; compare with many values by IN (...), or compute parts in a view"};
  }

  std::vector<Pair> open_ = std::vector<Pair>(1);
  size_t table_operators_ = 0;
  char last_sign_ = 0;
  size_t last_at_ = 0;
};

}  // namespace

std::optional<PlacedMessage> FindExcess(const SourceText& source) {
  Walk walk;
  const std::string& text = source.text();
  auto word = source.words().begin();
  for (const SourceText::Sign& sign : source.signs()) {
    for (; word != source.words().end() && word->at < sign.at; ++word) {
      if (auto excess = walk.Word(word->at, word->lower)) return excess;
    }
    const char next = sign.at + 1 < text.size() ? text[sign.at + 1] : '\0';
    if (auto excess = walk.Sign(sign.at, sign.sign, next)) return excess;
  }
  for (; word != source.words().end(); ++word) {
    if (auto excess = walk.Word(word->at, word->lower)) return excess;
  }
  return std::nullopt;
}

}  // namespace weir
