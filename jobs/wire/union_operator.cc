#include "jobs/wire/union_operator.h"

namespace weir {
namespace {

class Union final : public Operator {
 public:
  explicit Union(SchemaPtr schema) : schema_(std::move(schema)) {}

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    out.Emit(batch.WithColumns(schema_, batch.columns()));
    return Progress::kDone;
  }

 private:
  SchemaPtr schema_;
};

}  // namespace

std::unique_ptr<Operator> MakeUnion(SchemaPtr schema) { return std::make_unique<Union>(std::move(schema)); }

}  // namespace weir
