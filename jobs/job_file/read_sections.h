// One function a section of the job file.
#pragma once

#include "jobs/job_file/job_file.h"

namespace weir {

class MapReader;

OptionsDeclaration ReadOptions(const DocumentNode& node, Diagnostics& out);
SourceDeclaration ReadSource(const DocumentNode::Member& member, Diagnostics& out);
SinkDeclaration ReadSink(const DocumentNode::Member& member, Diagnostics& out);
TableDeclaration ReadTable(const DocumentNode::Member& member, Diagnostics& out);
// What a table without a primary_key has besides its columns.
void ReadLogTable(MapReader& reader, TableDeclaration& table, Diagnostics& out);
// indexes: of a primary-key table whose columns have been read.
void ReadIndexes(const DocumentNode& node, TableDeclaration& table, Diagnostics& out);
// Before the sinks are read, with the environment filled in.
void RedirectSinks(DocumentNode& root, const SinkRedirection& redirection);
std::vector<QueryDeclaration> ReadQueries(const DocumentNode& node, Diagnostics& out);
// kafka: {...}: properties of librdkafka, checked by it.
std::map<std::string, std::string> ReadClientProperties(const DocumentNode* node, Diagnostics& out);

}  // namespace weir
