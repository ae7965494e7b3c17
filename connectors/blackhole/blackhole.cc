#include "connectors/blackhole/blackhole.h"

namespace weir {
namespace {

class BlackholeSink final : public Operator {
 public:
  Result<Progress> Process(int, const Batch&, Output&) override { return Progress::kDone; }
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeBlackholeSink() { return std::make_unique<BlackholeSink>(); }

}  // namespace weir
