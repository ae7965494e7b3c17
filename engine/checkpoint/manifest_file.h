// manifest.json and complete.json on disk.  Format: docs/formats/manifest.md.
#pragma once

#include <string>
#include <vector>

#include "engine/checkpoint/manifest.h"

namespace weir {

// The text of manifest.json; its last field is the XXH3 checksum of the text before it.
std::string EncodeManifest(const Manifest& manifest);
// Refuses another version and a wrong checksum, by name.
Result<Manifest> ReadManifest(const std::string& path);
std::string EncodeFigures(const CheckpointFigures& figures);
Result<CheckpointFigures> ReadFigures(const std::string& path);

// Checkpoints of a state dir that have a manifest.json, ascending.
std::vector<Epoch> ListCheckpoints(const std::string& state_dir);
std::string CheckpointFolder(const std::string& state_dir, Epoch epoch);

}  // namespace weir
