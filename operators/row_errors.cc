#include "operators/row_errors.h"

namespace weir {

Result<Batch> WithoutFailedRow(const Batch& batch, const RowError& failed, const OperatorContext& context) {
  const Error error = DataError(failed.message);
  if (!batch.positions() || !context.on_row_error) return error;
  size_t first = failed.row;
  size_t last = failed.row;
  if (batch.IsUpdatePair(first)) {
    ++last;
  } else if (first > 0 && batch.IsUpdatePair(first - 1)) {
    --first;
  }
  for (size_t row = first; row <= last; ++row) {
    // The rows of one message are one bad record.
    if (row > first && (*batch.positions())[row].offset == (*batch.positions())[first].offset) continue;
    WEIR_TRY(context.on_row_error((*batch.positions())[row], error));
  }
  Selection rest;
  rest.reserve(batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    if (row < first || row > last) rest.push_back(static_cast<uint32_t>(row));
  }
  return batch.Gather(rest);
}

}  // namespace weir
