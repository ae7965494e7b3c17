// The value of a function that can fail, and the one list of error kinds.
//
// No exception leaves weir's own functions; third-party throws are caught at the edge and become an Error.
// A user's mistake and a bug of ours are two kinds: WEIR_CHECK (base/check.h) is for the second.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace weir {

enum class ErrorCode {
  kConfig,     // the job file or the command line is wrong: exit 2
  kPlan,       // the SQL cannot be planned: exit 2
  kData,       // a row cannot be processed (overflow, division by zero, a bad record): exit 1 or on_error
  kConnector,  // a broker, a file or another outside thing failed: exit 1
  kTable,      // a table refused a write or its files are damaged: exit 1
  kState,      // a checkpoint or the state dir cannot be read or written: exit 1
  kBug,        // an invariant of weir does not hold
};

// What went wrong, where and what to do.  `where` is "file:line:column" or "topic/partition/offset", or empty.
struct Error {
  ErrorCode code = ErrorCode::kBug;
  std::string message;
  std::string where;

  std::string ToString() const { return where.empty() ? message : where + ": " + message; }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result() = default;
  Result(Error error) : Base(tl::unexpect, std::move(error)) {}  // NOLINT: `return Error{..}` is the point
};

using Status = Result<void>;

inline Error ConfigError(std::string message, std::string where = {}) {
  return {ErrorCode::kConfig, std::move(message), std::move(where)};
}
inline Error PlanError(std::string message, std::string where = {}) {
  return {ErrorCode::kPlan, std::move(message), std::move(where)};
}
inline Error DataError(std::string message, std::string where = {}) {
  return {ErrorCode::kData, std::move(message), std::move(where)};
}
inline Error ConnectorError(std::string message, std::string where = {}) {
  return {ErrorCode::kConnector, std::move(message), std::move(where)};
}
inline Error StateError(std::string message, std::string where = {}) {
  return {ErrorCode::kState, std::move(message), std::move(where)};
}

}  // namespace weir

#define WEIR_CONCAT_INNER(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_INNER(a, b)

// Returns the error of a Status or Result from the enclosing function.
#define WEIR_TRY(expression)                                       \
  do {                                                             \
    auto&& weir_status = (expression);                             \
    if (!weir_status) return ::weir::Error(weir_status.error());   \
  } while (false)

// WEIR_ASSIGN(auto value, Compute()): the value, or return of the error.
#define WEIR_ASSIGN(declaration, expression)                                                   \
  auto WEIR_CONCAT(weir_result_, __LINE__) = (expression);                                     \
  if (!WEIR_CONCAT(weir_result_, __LINE__)) return ::weir::Error(WEIR_CONCAT(weir_result_, __LINE__).error()); \
  declaration = std::move(*WEIR_CONCAT(weir_result_, __LINE__))
