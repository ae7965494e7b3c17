#include "connectors/decode/message_rows.h"

#include <spdlog/spdlog.h>

namespace weir {

Result<std::unique_ptr<MessageRows>> MessageRows::Make(const DecoderOptions& options, ErrorPolicy on_error,
                                                       Describe describe) {
  WEIR_ASSIGN(auto decoder, MakeDecoder(options));
  return std::unique_ptr<MessageRows>(new MessageRows(std::move(decoder), on_error, std::move(describe)));
}

MessageRows::MessageRows(std::unique_ptr<Decoder> decoder, ErrorPolicy on_error, Describe describe)
    : decoder_(std::move(decoder)), on_error_(on_error), describe_(std::move(describe)), builder_(decoder_->schema()) {}

Status MessageRows::Add(std::span<const RawMessage> messages) {
  if (positions_.empty()) positions_.reserve(messages.size());
  errors_.clear();
  const size_t tombstones = decoder_->Decode(messages, builder_, positions_, errors_);
  WEIR_CHECK_EQ(positions_.size(), builder_.rows());
  if (metrics_ != nullptr) {
    metrics_->records_in.fetch_add(static_cast<int64_t>(messages.size()), std::memory_order_relaxed);
    metrics_->tombstones.fetch_add(static_cast<int64_t>(tombstones), std::memory_order_relaxed);
  }
  return errors_.empty() ? Status() : HandleErrors(messages);
}

Status MessageRows::HandleErrors(std::span<const RawMessage> messages) {
  for (const DecodeError& error : errors_) {
    WEIR_CHECK_LT(error.message, messages.size());
    const RawMessage& message = messages[error.message];
    std::string where = describe_({message.partition, message.offset});
    if (metrics_ != nullptr) metrics_->bad_records.fetch_add(1, std::memory_order_relaxed);
    if (!on_error_.skip) return DataError(error.text, std::move(where));
    // The first ones tell the user what is wrong; a million of them would only hide other lines.
    if (++skipped_ <= 5) spdlog::warn("skipped a bad record: {}: {}", where, error.text);
  }
  return {};
}

Batch MessageRows::Take() {
  Batch batch = builder_.Build();
  batch.set_positions(std::make_shared<const std::vector<RowPosition>>(std::move(positions_)));
  positions_ = {};
  return batch;
}

}  // namespace weir
