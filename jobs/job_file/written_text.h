// What a scalar of the job file was before ${VAR} was filled in: the file has places only for that text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace weir {

// One ${VAR}: the bytes [at, at + size) of the filled text stand for the bytes [written_at, written_at + written_size).
struct FilledVariable {
  size_t at = 0;
  size_t size = 0;
  size_t written_at = 0;
  size_t written_size = 0;
};

struct WrittenText {
  std::string text;                       // empty when nothing was filled in
  std::vector<FilledVariable> variables;  // in the order of the text
};

// A line and a column, 1-based, the column in characters.
struct LineAndColumn {
  int line = 1;
  int column = 1;
};

// The place in the written text that a place in the filled text comes from; within a value it is the place of its ${.
LineAndColumn PlaceAsWritten(const std::string& filled, const WrittenText& written, LineAndColumn place);

}  // namespace weir
