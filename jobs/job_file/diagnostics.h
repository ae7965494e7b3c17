// What is wrong with a job file, all of it: errors with their place, collected while reading goes on.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace weir {

// A place in the job file; 1-based, columns in characters.  `origin` is set instead when the text came from the
// command line ("--set options.join=delta").
struct FilePosition {
  int line = 0;
  int column = 0;
  std::string origin;
};

// Collects errors and puts them into the order of the file.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void Add(const FilePosition& position, std::string message);
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // Sorted by position, equal ones once; `where` is "file:line:column", the origin, or the file alone.
  std::vector<Error> Errors() const;

 private:
  struct Entry {
    FilePosition position;
    std::string message;
  };
  std::string file_;
  std::vector<Entry> entries_;
};

}  // namespace weir
