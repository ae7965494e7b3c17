#include "connectors/print/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "connectors/format/format.h"

namespace weir {
namespace {

class PrintSink final : public Operator {
 public:
  PrintSink(std::string name, std::unique_ptr<Encoder> encoder)
      : prefix_(name.empty() ? std::string() : std::move(name) + " "), encoder_(std::move(encoder)) {}

  Result<Progress> Process(int, const Batch& batch, Output&) override {
    json_.clear();
    ends_.clear();
    text_.clear();
    encoder_->Encode(batch, json_, ends_);
    size_t from = 0;
    for (size_t row = 0; row < batch.rows(); ++row) {
      text_ += prefix_;
      text_ += ToString(batch.kind(row));
      text_ += ' ';
      text_.append(json_, from, ends_[row] - from);
      text_ += '\n';
      from = ends_[row];
    }
    // One call a batch: lines of several tasks do not mix, because stdio locks the stream for the length of the call.
    if (std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size() || std::fflush(stdout) != 0) {
      return ConnectorError(std::string("cannot write to stdout: ") + std::strerror(errno));
    }
    return Progress::kDone;
  }

 private:
  const std::string prefix_;
  const std::unique_ptr<Encoder> encoder_;
  std::string json_;
  std::vector<size_t> ends_;
  std::string text_;
};

}  // namespace

Result<std::unique_ptr<Operator>> MakePrintSink(const PrintSinkOptions& options) {
  WEIR_ASSIGN(auto encoder, MakeEncoder(FormatKind::kJson, options.schema));
  return std::make_unique<PrintSink>(options.name, std::move(encoder));
}

}  // namespace weir
