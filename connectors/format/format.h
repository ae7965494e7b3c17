// Formats: messages to rows and rows to messages, by a declared schema.
//
// A decoder belongs to one source task.  It works on a batch of messages a call and appends straight to columns; what
// it cannot read is reported per message and leaves no half row behind.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/data/batch.h"

namespace weir {

enum class FormatKind { kJson, kCsv, kChangelogJson, kDebeziumJson };
enum class Typing { kStrict, kLenient };
enum class TimeUnit { kSeconds, kMilliseconds, kMicroseconds };
enum class Metadata { kNone, kKey, kTimestamp, kPartition, kOffset };

// A declared column of a source.
struct SourceColumn {
  std::string name;
  DataType type;
  std::vector<std::string> path;             // keys from the root; {name} by default.  "a.b", a."b.c" in the job file
  TimeUnit unit = TimeUnit::kMilliseconds;   // of epoch numbers in time columns
  Metadata metadata = Metadata::kNone;       // taken from the message, not from its value
  std::optional<std::string> default_value;  // for a missing field, in the text form of the type
};

// Splits `user.id`, `"user.id"`, `attrs."b.c"` into keys; empty when it is no path.
std::optional<std::vector<std::string>> ParsePath(std::string_view text);

struct DecoderOptions {
  FormatKind format = FormatKind::kJson;
  Typing typing = Typing::kStrict;
  std::vector<SourceColumn> columns;
  std::vector<int> read;          // the columns that the job reads = the output schema, in this order
  std::vector<int> primary_key;   // indexes in `columns`; their values are not NULL (else the record is bad)
  bool upsert = false;            // a tombstone is a -D of the message's key (columns with metadata: key, or the key as
                                  // a JSON object of the primary key columns); else tombstones are dropped and counted
  std::string time_zone = "UTC";  // of timestamp_ltz text without an offset
  bool csv_header = true;
  char csv_delimiter = ',';
};

struct RawMessage {
  std::string_view value;  // readable for 64 bytes beyond its end (simdjson's padding)
  bool tombstone = false;
  std::optional<std::string_view> key;
  int64_t timestamp_ms = -1;  // -1: none
  uint32_t partition = 0;     // index in the source's partitions
  int32_t partition_id = 0;   // as metadata: partition gives it
  int64_t offset = 0;
};

struct DecodeError {
  size_t message = 0;  // index in the span
  std::string text;    // "column amount: 'abc' is not a decimal(12,2)"
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual const SchemaPtr& schema() const = 0;
  // Appends the rows of the messages to `out` and their positions to `positions`.  Bad messages add to `errors` and
  // nothing else.  Returns the number of tombstones, whether they made a row (a -D of an upsert source) or not.
  virtual size_t Decode(std::span<const RawMessage> messages, BatchBuilder& out, std::vector<RowPosition>& positions,
                        std::vector<DecodeError>& errors) = 0;
};

Result<std::unique_ptr<Decoder>> MakeDecoder(const DecoderOptions& options);

// Rows to text, one line or message a row.  Immutable, shared between tasks.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends the text of each row of the batch to `out` and the end offset of each row to `ends`.  No newline.
  // Rows that the format leaves out (none so far) have an empty text.
  virtual void Encode(const Batch& batch, std::string& out, std::vector<size_t>& ends) const = 0;
  // The same for some columns only, always as a JSON object: the key of a Kafka message.
  virtual void EncodeKey(const Batch& batch, std::span<const int> columns, std::string& out,
                         std::vector<size_t>& ends) const = 0;
};

// kJson writes the columns as an object, without the row kind (kDelete rows are the sink's business); kChangelogJson
// adds "op"; kCsv writes RFC 4180 fields.
Result<std::unique_ptr<Encoder>> MakeEncoder(FormatKind format, SchemaPtr schema);
std::string CsvHeader(const Schema& schema);

// What to do with a record that cannot be decoded.
struct ErrorPolicy {
  bool skip = false;  // else fail
};

}  // namespace weir
