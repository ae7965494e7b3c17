// The memory connector: a source that a test, a replay or an embedding program feeds, and a sink it reads.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "connectors/format/format.h"
#include "engine/runtime/source.h"

namespace weir {

// The feeding side.  Thread-safe; shared by the program and the source's tasks.  Rows are kept so that a restored
// source reads them again from its position.
class MemoryFeed {
 public:
  MemoryFeed(Schema schema, int partitions = 1);
  ~MemoryFeed();

  const Schema& schema() const;
  int partitions() const;
  void Push(Batch rows, int partition = 0);  // of the feed's schema
  // A raw message for the source's decoder; the bytes are copied.
  void PushMessage(const RawMessage& message, int partition = 0);
  void MarkIdle(int partition);
  void End();  // no more rows in any partition

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

struct MemorySourceOptions {
  std::string name;
  std::shared_ptr<MemoryFeed> feed;
  std::optional<DecoderOptions> decoder;  // when raw messages may come
  std::vector<int> read;                  // columns of the feed's schema, in output order
  ErrorPolicy on_error;
};

Result<std::unique_ptr<Source>> MakeMemorySource(const MemorySourceOptions& options);

// The reading side.  Thread-safe.
class MemoryResult {
 public:
  void Append(Batch batch);
  std::vector<Batch> Batches() const;
  // The table that the changelog describes: the text of each row (FormatValue, columns joined by a blank), sorted, as
  // often as it is there.  A retraction of a row that is not there is an error.
  Result<std::vector<std::string>> Collapsed() const;
  // Rows of epochs that did not complete go when the job is restored.
  void DropAfter(Epoch epoch);
  void Append(Batch batch, Epoch epoch);

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<Epoch, Batch>> batches_;
};

Result<std::unique_ptr<Operator>> MakeMemorySink(std::shared_ptr<MemoryResult> result);

}  // namespace weir
