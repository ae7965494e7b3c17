#include "jobs/job_file/query_position.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace weir {
namespace {

// One character of a scalar's value and the place it came from.
struct Placed {
  std::string_view character;
  int line;
  int column;
};

// Reads the file character by character, counting.
class Cursor {
 public:
  Cursor(std::string_view file, int line, int column) : file_(file) {
    if (file_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (!done() && line_ < line) Next();
    while (!done() && column_ < column && !AtBreak()) Next();
  }

  bool done() const { return at_ >= file_.size(); }
  bool AtBreak() const { return !done() && (file_[at_] == '\n' || file_[at_] == '\r'); }
  bool AtBlank() const { return !done() && (file_[at_] == ' ' || file_[at_] == '\t'); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < file_.size() ? file_[at_ + ahead] : '\0'; }
  std::string_view Rest() const { return file_.substr(std::min(at_, file_.size())); }
  int line() const { return line_; }
  int column() const { return column_; }

  // The character here with its place; goes on by one.
  Placed Next() {
    size_t size = 1;
    while (at_ + size < file_.size() && (file_[at_ + size] & 0xC0) == 0x80) ++size;
    if (file_.substr(at_).starts_with("\r\n")) size = 2;
    const Placed placed{file_.substr(at_, size), line_, column_};
    at_ += size;
    if (placed.character.back() == '\n' || placed.character == "\r") {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
    return placed;
  }

 private:
  std::string_view file_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

constexpr std::string_view kBlank = " ";
constexpr std::string_view kNewline = "\n";

class ScalarWalk {
 public:
  ScalarWalk(std::string_view file, const FilePosition& scalar, std::string_view text)
      : cursor_(file, scalar.line, scalar.column), text_(text) {}

  std::vector<Placed> Walk() {
    switch (cursor_.Peek()) {
      case '|':
        Block(false);
        break;
      case '>':
        Block(true);
        break;
      case '\'':
      case '"': {
        const char quote = cursor_.Peek();
        cursor_.Next();
        Flow(quote);
        break;
      }
      default:
        Flow('\0');
    }
    return std::move(placed_);
  }

 private:
  // Line breaks of flow scalars: blanks around them go, one break is a blank, n + 1 breaks are n newlines.
  void FoldBreak() {
    const int line = cursor_.line();
    const int column = cursor_.column();
    size_t breaks = 0;
    while (cursor_.AtBreak() || cursor_.AtBlank()) {
      if (cursor_.AtBreak()) ++breaks;
      cursor_.Next();
    }
    if (breaks == 1) placed_.push_back({kBlank, line, column});
    for (size_t i = 1; i < breaks; ++i) placed_.push_back({kNewline, line + static_cast<int>(i), 1});
  }

  void Flow(char quote) {
    while (!cursor_.done() && placed_.size() < text_.size()) {
      if (cursor_.AtBreak()) {
        while (!placed_.empty() && placed_.size() > kept_ && IsBlank(placed_.back())) placed_.pop_back();
        FoldBreak();
        kept_ = placed_.size();
        continue;
      }
      if (quote == '"' && cursor_.Peek() == '\\') {
        Escape();
        kept_ = placed_.size();
        continue;
      }
      if (quote != '\0' && cursor_.Peek() == quote) {
        const bool doubled = quote == '\'' && cursor_.Peek(1) == '\'';
        if (!doubled) return;
        placed_.push_back(cursor_.Next());
        cursor_.Next();
        continue;
      }
      placed_.push_back(cursor_.Next());
    }
  }

  static bool IsBlank(const Placed& placed) { return placed.character == " " || placed.character == "\t"; }

  // Backslash and what follows: one character of the value, or none for an escaped line break.
  void Escape() {
    Placed first = cursor_.Next();
    if (cursor_.AtBreak()) {
      cursor_.Next();
      while (cursor_.AtBlank()) cursor_.Next();
      return;
    }
    const char kind = cursor_.Next().character[0];
    const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    for (int i = 0; i < digits && !cursor_.done(); ++i) cursor_.Next();
    first.character = kind == 'n' ? kNewline : kind == '"' ? std::string_view("\"") : kind == '\\' ? "\\" : "";
    placed_.push_back(first);
  }

  // Literal and folded blocks start on the next line; their indentation is what the first line of text has in the file
  // and not in the value.
  void Block(bool folded) {
    while (!cursor_.done() && !cursor_.AtBreak()) cursor_.Next();
    if (!cursor_.done()) cursor_.Next();
    const size_t indent = Indentation();
    while (!cursor_.done() && placed_.size() < text_.size()) {
      for (size_t i = 0; i < indent && cursor_.Peek() == ' '; ++i) cursor_.Next();
      while (!cursor_.done() && !cursor_.AtBreak()) placed_.push_back(cursor_.Next());
      if (cursor_.done()) return;
      if (folded) {
        FoldBlockBreak(indent);
      } else {
        const Placed end = cursor_.Next();
        placed_.push_back({kNewline, end.line, end.column});
      }
    }
  }

  // In a folded block one break between lines of text is a blank, n + 1 breaks are n newlines.  Lines that are indented
  // further keep their breaks; the value says which case it is.
  void FoldBlockBreak(size_t indent) {
    const Placed end = cursor_.Next();
    std::vector<Placed> more;
    while (!cursor_.done()) {
      Cursor ahead = cursor_;
      for (size_t i = 0; i < indent && ahead.Peek() == ' '; ++i) ahead.Next();
      if (!ahead.AtBreak()) break;
      cursor_ = ahead;
      const Placed blank_line = cursor_.Next();
      more.push_back({kNewline, blank_line.line, blank_line.column});
    }
    const size_t at = ValueBytes();
    const bool as_newline = more.empty() && at < text_.size() && text_[at] == '\n';
    if (more.empty()) placed_.push_back({as_newline ? kNewline : kBlank, end.line, end.column});
    placed_.insert(placed_.end(), more.begin(), more.end());
  }

  size_t ValueBytes() const {
    size_t bytes = 0;
    for (const Placed& placed : placed_) bytes += placed.character.size();
    return bytes;
  }

  size_t Indentation() const {
    size_t in_file = 0;
    std::string_view rest = cursor_.Rest();
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      const size_t first = line.find_first_not_of(" \r");
      if (first != std::string_view::npos) {
        in_file = first;
        break;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const size_t word = text_.find_first_not_of(" \n");
    const size_t newline = word == std::string_view::npos ? word : text_.rfind('\n', word);
    const size_t in_value = word == std::string_view::npos      ? 0
                            : newline == std::string_view::npos ? word
                                                                : word - newline - 1;
    return in_file - std::min(in_file, in_value);
  }

  Cursor cursor_;
  std::string_view text_;
  std::vector<Placed> placed_;
  size_t kept_ = 0;  // characters that a line break does not trim: escaped ones
};

}  // namespace

FilePosition PositionInFile(std::string_view file, const FilePosition& scalar, std::string_view text, int line,
                            int column) {
  if (!scalar.origin.empty() || scalar.line <= 0) return scalar;
  const std::vector<Placed> placed = ScalarWalk(file, scalar, text).Walk();
  FilePosition position = scalar;
  int at_line = 1;
  int at_column = 1;
  for (const Placed& character : placed) {
    position.line = character.line;
    position.column = character.column;
    if (at_line == line && at_column == column) return position;
    if (at_line > line) break;
    if (character.character == kNewline || character.character == "\r\n") {
      if (at_line == line) return position;  // beyond the end of the line: its end
      ++at_line;
      at_column = 1;
    } else {
      ++at_column;
    }
  }
  if (!placed.empty() && at_line == line && at_column == column) ++position.column;  // the end of the text
  return position;
}

FilePosition PositionOfQuery(const JobFile& file, const QueryDeclaration& query, int line, int column) {
  const LineAndColumn place = PlaceAsWritten(query.sql, query.written, {line, column});
  const std::string& text = query.written.variables.empty() ? query.sql : query.written.text;
  return PositionInFile(file.text, query.position, text, place.line, place.column);
}

}  // namespace weir
