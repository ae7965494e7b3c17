#include "jobs/job_file/written_text.h"

#include <string_view>

namespace weir {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The byte offset of a place; the end of its line when the line is shorter.
size_t OffsetOf(std::string_view text, LineAndColumn place) {
  size_t at = 0;
  for (int line = 1; line < place.line && at < text.size(); ++line) {
    const size_t newline = text.find('\n', at);
    at = newline == std::string_view::npos ? text.size() : newline + 1;
  }
  for (int column = 1; column < place.column && at < text.size() && text[at] != '\n'; ++column) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

LineAndColumn PlaceOf(std::string_view text, size_t offset) {
  LineAndColumn place;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!IsContinuation(text[i])) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

LineAndColumn PlaceAsWritten(const std::string& filled, const WrittenText& written, LineAndColumn place) {
  if (written.variables.empty()) return place;
  const size_t offset = OffsetOf(filled, place);
  // Behind a variable the two texts run side by side again.
  size_t from_filled = 0;
  size_t from_written = 0;
  for (const FilledVariable& variable : written.variables) {
    if (offset < variable.at) break;
    if (offset < variable.at + variable.size) return PlaceOf(written.text, variable.written_at);
    from_filled = variable.at + variable.size;
    from_written = variable.written_at + variable.written_size;
  }
  return PlaceOf(written.text, from_written + (offset - from_filled));
}

}  // namespace weir
