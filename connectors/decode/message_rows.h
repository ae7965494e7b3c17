// From raw messages to one source batch: what the sources that read bytes have in common.
//
// Owns the decoder of one source task, collects rows with their positions, counts tombstones and applies on_error to
// messages that cannot be decoded.  Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connectors/format/format.h"
#include "engine/runtime/source.h"

namespace weir {

class MessageRows {
 public:
  // Text of a position for messages: "topic/partition/offset" or "file:line".
  using Describe = std::function<std::string(const RowPosition&)>;

  static Result<std::unique_ptr<MessageRows>> Make(const DecoderOptions& options, ErrorPolicy on_error,
                                                   Describe describe);

  // Counts go to `metrics`, which outlives this object.
  void set_metrics(SourceMetrics* metrics) { metrics_ = metrics; }
  const SchemaPtr& schema() const { return decoder_->schema(); }

  // Decodes the messages behind the rows collected so far.  A bad message is a kData error that says where it is, or is
  // counted and left out when the policy says skip.
  Status Add(std::span<const RawMessage> messages);
  size_t rows() const { return builder_.rows(); }
  // The rows collected so far as a batch with positions; this object is empty afterwards.
  Batch Take();

 private:
  MessageRows(std::unique_ptr<Decoder> decoder, ErrorPolicy on_error, Describe describe);
  Status HandleErrors(std::span<const RawMessage> messages);

  const std::unique_ptr<Decoder> decoder_;
  const ErrorPolicy on_error_;
  const Describe describe_;
  SourceMetrics* metrics_ = nullptr;
  BatchBuilder builder_;
  std::vector<RowPosition> positions_;
  std::vector<DecodeError> errors_;
  int64_t skipped_ = 0;
};

}  // namespace weir
