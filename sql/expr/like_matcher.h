// LIKE patterns, compiled once: % any run, _ any character, \ takes the next character as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace weir {

class LikeMatcher {
 public:
  // An error when the pattern ends with the escape character.
  static Result<LikeMatcher> Compile(std::string_view pattern);

  bool Matches(std::string_view text) const;

 private:
  // Most patterns are one literal with or without % at its ends: then a comparison or a search does it.
  enum class Shape { kExact, kPrefix, kSuffix, kContains, kAll, kGeneral };
  enum class Kind : char { kByte, kAnyCharacter, kAnyRun };
  struct Element {
    Kind kind;
    char byte;
  };

  bool MatchesGeneral(std::string_view text) const;
  void ChooseShape();

  Shape shape_ = Shape::kGeneral;
  std::string literal_;
  std::vector<Element> elements_;
};

}  // namespace weir
