// The folder of a file sink: names of finished and unfinished parts, and the steps that publish or remove them.
//
//   part-<epoch, 12 digits>-<task, 4 digits>.jsonl     a complete epoch's rows of one task, never changed again
//   .part-<number, 12 digits>-<task, 4 digits>.jsonl   being written, or written and waiting for its epoch to complete;
//                                                      the number is unique in the job's life but is not the epoch,
//                                                      which nobody knows before the barrier comes
//
// Functions may be called from any thread; two calls never concern the same file at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/operator.h"

namespace weir {

struct PartName {
  uint64_t number = 0;
  int task = 0;
  bool finished = false;
};

std::string FormatPartName(const PartName& name, std::string_view extension);  // extension: "jsonl" or "csv"
// Empty for a file that is not a part.
std::optional<PartName> ParsePartName(std::string_view file);

// Commit data of one task and epoch: nothing, or which file becomes which.
std::string FormatCommitData(const std::string& hidden, const std::string& finished);
// Renames as the commit data says and makes that durable.  Already renamed is fine; a part that is neither under its
// hidden nor its final name is an error.
Status PublishPart(const std::string& folder, const std::string& commit_data);

// Deletes every unfinished part, and finished ones of epochs above `epoch`.
Status RemoveLeftovers(const std::string& folder, Epoch epoch);

Result<std::vector<std::string>> ListFolder(const std::string& folder);  // names; a folder that is not there is empty
// As engine/base/file.h, with the errors of a connector.
Status SyncPartFolder(const std::string& folder);

}  // namespace weir
