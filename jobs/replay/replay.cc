#include "jobs/replay/replay.h"

#include <fmt/format.h>

namespace weir {
namespace {

class Delivery {
 public:
  Delivery(const ReplayFile& replay, const JobFile& job, int64_t batch_lines, const Feeds& feeds, RunningJob& running,
           SkippedRows& skipped)
      : replay_(replay), job_(job), batch_lines_(batch_lines), running_(running), skipped_(skipped) {
    for (const SourceDeclaration& source : job.sources) feeds_.push_back(feeds.at(source.name).get());
  }

  Result<JobEnd> Run() {
    for (const ReplayEvent& event : replay_.events) WEIR_TRY(Take(event));
    WEIR_TRY(Rest());
    for (MemoryFeed* feed : feeds_) feed->End();
    return running_.Wait();
  }

 private:
  Status Take(const ReplayEvent& event) {
    switch (event.kind) {
      case ReplayEvent::Kind::kRow:
        return TakeRow(event);
      case ReplayEvent::Kind::kMessage: {
        Push();
        const ReplayMessage& message = replay_.messages[event.index];
        RawMessage raw;
        raw.value = message.value;
        raw.tombstone = message.tombstone;
        if (message.key) raw.key = *message.key;
        raw.timestamp_ms = message.timestamp_ms;
        raw.partition = static_cast<uint32_t>(event.partition);
        raw.partition_id = event.partition;
        raw.offset = message.offset;
        feed(event).PushMessage(raw, event.partition);
        return CountLine();
      }
      case ReplayEvent::Kind::kIdle:
        WEIR_TRY(Rest());
        feed(event).MarkIdle(event.partition);
        return running_.WaitUntilIdle();
      case ReplayEvent::Kind::kBatch:
        return Rest();
      case ReplayEvent::Kind::kCheckpoint:
        WEIR_TRY(Rest());
        WEIR_TRY(running_.Checkpoint());
        return running_.CrashAndRestore();
    }
    return {};
  }

  Status TakeRow(const ReplayEvent& event) {
    const SourceDeclaration& source = job_.sources[static_cast<size_t>(event.source)];
    if (event.null_key >= 0) {
      if (!source.skip_bad_rows) {
        WEIR_TRY(Rest());
        const std::string& column = source.columns[static_cast<size_t>(event.null_key)].name;
        return DataError(fmt::format("source {}: column {} of the primary key is NULL", source.name, column),
                         fmt::format("{}:{}", replay_.path, event.line));
      }
      ++skipped_[source.name];
      return CountLine();
    }
    const bool goes_on = pending_rows_ > 0 && pending_.source == event.source &&
                         pending_.partition == event.partition && pending_.index + pending_rows_ == event.index;
    if (!goes_on) {
      Push();
      pending_ = event;
    }
    ++pending_rows_;
    return CountLine();
  }

  Status CountLine() {
    if (++lines_ < batch_lines_) return {};
    return Rest();
  }

  // Hands over the rows collected from lines of one source.
  void Push() {
    if (pending_rows_ == 0) return;
    const Batch& rows = replay_.rows[static_cast<size_t>(pending_.source)];
    for (size_t from = 0; from < pending_rows_;) {
      size_t count = std::min(kBatchRows, pending_rows_ - from);
      // An update's two rows stay in one batch.
      const bool splits = from + count < pending_rows_ && rows.IsUpdatePair(pending_.index + from + count - 1);
      if (splits && count > 1) --count;
      feed(pending_).Push(rows.Slice(pending_.index + from, count), pending_.partition);
      from += count;
    }
    pending_rows_ = 0;
  }

  Status Rest() {
    Push();
    lines_ = 0;
    return running_.WaitUntilIdle();
  }

  MemoryFeed& feed(const ReplayEvent& event) { return *feeds_[static_cast<size_t>(event.source)]; }

  const ReplayFile& replay_;
  const JobFile& job_;
  const int64_t batch_lines_;
  RunningJob& running_;
  SkippedRows& skipped_;
  std::vector<MemoryFeed*> feeds_;
  ReplayEvent pending_;  // the first of the rows not yet pushed
  size_t pending_rows_ = 0;
  int64_t lines_ = 0;  // delivered since the job last came to rest
};

}  // namespace

Feeds MakeReplayFeeds(const ReplayFile& replay, const JobFile& job) {
  Feeds feeds;
  for (size_t i = 0; i < job.sources.size(); ++i) {
    feeds[job.sources[i].name] = std::make_shared<MemoryFeed>(job.sources[i].MakeSchema(), replay.partitions[i]);
  }
  return feeds;
}

Result<JobEnd> Replay(const ReplayFile& replay, const JobFile& job, int64_t batch_lines, const Feeds& feeds,
                      RunningJob& running, SkippedRows& skipped) {
  return Delivery(replay, job, batch_lines, feeds, running, skipped).Run();
}

}  // namespace weir
