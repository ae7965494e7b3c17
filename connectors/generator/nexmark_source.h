// One stream of the Nexmark events as a source.
#pragma once

#include <memory>

#include "connectors/generator/options.h"

namespace weir {

Result<std::unique_ptr<Source>> MakeNexmarkSource(const GeneratorOptions& options);

}  // namespace weir
