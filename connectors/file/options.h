// The file connector: lines of files matched by a glob in, folders of parts out.
//
// Source: bounded; every file is one partition (named by its path), files sorted by name and spread over tasks; the
// position is "byte:line".  JSON lines, changelog_json, CSV (header line, RFC 4180 quoting, also over several lines).
// Sink: PATH/part-<epoch, 12 digits>-<task, 4 digits>.jsonl (.csv), written as PATH/.part-..., fsynced in the
// checkpoint's async phase, renamed in OnCommit.  A restore deletes parts of epochs above the restored one and repeats
// the renames of the restored one.
#pragma once

#include <memory>
#include <string>

#include "connectors/format/format.h"
#include "engine/runtime/source.h"

namespace weir {

struct FileSourceOptions {
  std::string name;  // of the source, for messages
  std::string path;  // a file or a glob
  DecoderOptions decoder;
  ErrorPolicy on_error;
};

struct FileSinkOptions {
  std::string name;
  std::string path;  // a folder
  FormatKind format = FormatKind::kChangelogJson;
  SchemaPtr schema;
};

Result<std::unique_ptr<Source>> MakeFileSource(const FileSourceOptions& options);
// Per task.
Result<std::unique_ptr<Operator>> MakeFileSink(const FileSinkOptions& options);

// For a new state dir: an error when the folder already has parts (it would mix two jobs' results); `force` empties it
// of parts, finished and unfinished.
Status PrepareFileSink(const std::string& path, bool force);

}  // namespace weir
