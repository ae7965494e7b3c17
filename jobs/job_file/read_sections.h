// One function a section of the job file.
#pragma once

#include "jobs/job_file/job_file.h"

namespace weir {

OptionsDeclaration ReadOptions(const DocumentNode& node, Diagnostics& out);
SourceDeclaration ReadSource(const DocumentNode::Member& member, Diagnostics& out);
SinkDeclaration ReadSink(const DocumentNode::Member& member, Diagnostics& out);
TableDeclaration ReadTable(const DocumentNode::Member& member, Diagnostics& out);
// A table without a primary_key.
TableDeclaration ReadLogTable(const DocumentNode::Member& member, Diagnostics& out);
// Columns of a table are written by queries: they have a type and nothing else.
void CheckTableColumns(const DocumentNode& columns, Diagnostics& out);
// Before the sinks are read, with the environment filled in.
void RedirectSinks(DocumentNode& root, const SinkRedirection& redirection);
std::vector<QueryDeclaration> ReadQueries(const DocumentNode& node, Diagnostics& out);
// kafka: {...}: properties of librdkafka, checked by it.
std::map<std::string, std::string> ReadClientProperties(const DocumentNode* node, Diagnostics& out);

}  // namespace weir
