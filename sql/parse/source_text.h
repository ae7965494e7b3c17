// Places in the text of a query: from byte offsets and character counts to the line and column that people see.
//
// Immutable after construction; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct TextPlace {
  int line = 1;    // 1-based
  int column = 1;  // 1-based, in characters (UTF-8 code points)
};

// A message with its place, as a byte offset.
struct PlacedMessage {
  size_t at = 0;
  std::string message;
};

class SourceText {
 public:
  explicit SourceText(std::string text);

  // A word outside of literals, quoted names and comments.
  struct Word {
    size_t at;
    std::string lower;
  };
  // Any other character there, but blanks and digits.
  struct Sign {
    size_t at;
    char sign;
  };

  const std::string& text() const { return text_; }
  // Both in the order of the text.
  const std::vector<Word>& words() const { return words_; }
  const std::vector<Sign>& signs() const { return signs_; }
  TextPlace Locate(size_t byte_offset) const;
  // The byte offset of the character with the 1-based number `character` (libpg_query counts errors in characters).
  size_t OffsetOfCharacter(size_t character) const;

  // The offset of the first (last) occurrence of a keyword, outside of literals, quoted names and comments, in
  // [from, to); `otherwise` when there is none.
  size_t FindKeyword(std::string_view keyword, size_t from, size_t to, size_t otherwise) const;
  size_t FindLastKeyword(std::string_view keyword, size_t from, size_t to, size_t otherwise) const;
  // The text of a negative whole number at the offset ("-5" for "- 5"); empty when there is none.
  std::string NegativeNumberAt(size_t offset) const;

 private:
  void CollectWords();

  std::string text_;
  std::vector<Word> words_;
  std::vector<Sign> signs_;
};

}  // namespace weir
