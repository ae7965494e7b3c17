// Names close to a misspelt one, for messages.
#pragma once

#include <string>
#include <vector>

namespace weir {

// The candidate nearest to `name` (equal but for case, or an edit distance of at most 2); empty when none is near.
std::string NearestName(const std::string& name, const std::vector<std::string>& candidates);
// The name as SQL writes it: in quotes when it has other characters than a-z, 0-9 and _.
std::string QuotedIfNeeded(const std::string& name);
// "; did you mean x?", or nothing.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& candidates);
// "a, b and c"
std::string ListOf(const std::vector<std::string>& names);

}  // namespace weir
