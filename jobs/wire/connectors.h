// From a declared source or sink to the factories of its connector.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "connectors/memory/memory.h"
#include "engine/runtime/graph.h"
#include "jobs/job_file/job_file.h"

namespace weir {

// What feeds and reads a job from within the process, by the names of its sources and sinks.
using Feeds = std::map<std::string, std::shared_ptr<MemoryFeed>>;
using MemoryResults = std::map<std::string, std::shared_ptr<MemoryResult>>;

using SourceFactory = std::function<Result<std::unique_ptr<Source>>(int task, int parallelism)>;
using OperatorFactory = std::function<Result<std::unique_ptr<Operator>>(int task, int parallelism)>;

DecoderOptions MakeDecoderOptions(const SourceDeclaration& source, const std::vector<int>& read,
                                  const std::string& time_zone);

// `read` are the columns of the declaration to produce, in output order.  A feed replaces whatever connector the source
// declares; a memory source without one is an error.
Result<SourceFactory> MakeSourceFactory(const JobFile& file, const SourceDeclaration& source,
                                        const std::vector<int>& read, std::shared_ptr<MemoryFeed> feed);

// `schema` is that of the rows, `key` the upsert key of the query (may be empty).
Result<OperatorFactory> MakeSinkFactory(const SinkDeclaration& sink, SchemaPtr schema, const std::vector<int>& key,
                                        std::shared_ptr<MemoryResult> result);

}  // namespace weir
