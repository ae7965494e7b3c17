// SQL types, their physical form, fields and schemas.
//
// Five physical forms keep the number of kernels small:
//   kBool    uint8_t    boolean
//   kInt64   int64_t    tinyint..bigint, date (days), time (us), timestamp and timestamp_ltz (us since 1970 UTC),
//                       decimal with precision <= 18 (unscaled)
//   kDouble  double     float (already rounded to float), double
//   kInt128  Int128     decimal with precision 19..38 (unscaled)
//   kText    bytes      string (UTF-8), bytes, bitmap32/64 (portable Roaring), array (data/array_codec.h)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

__extension__ typedef __int128 Int128;

enum class TypeKind : uint8_t {
  kNull,  // the type of a bare NULL before it is bound to another; never the type of a column in a batch
  kBoolean,
  kTinyint,
  kSmallint,
  kInt,
  kBigint,
  kFloat,
  kDouble,
  kDecimal,
  kString,
  kBytes,
  kDate,
  kTime,
  kTimestamp,
  kTimestampLtz,
  kInterval,  // expressions only: microseconds in int64; months are refused but for date arithmetic on literals
  kBitmap32,
  kBitmap64,
  kArray,
};

enum class Physical : uint8_t { kBool, kInt64, kDouble, kInt128, kText };

struct DataType {
  TypeKind kind = TypeKind::kNull;
  uint8_t precision = 0;                  // decimal: digits; time and timestamps: digits of the second's fraction
  uint8_t scale = 0;                      // decimal
  TypeKind element = TypeKind::kNull;     // array: the kind of its elements
  uint8_t element_precision = 0;
  uint8_t element_scale = 0;

  bool operator==(const DataType&) const = default;

  Physical physical() const {
    switch (kind) {
      case TypeKind::kBoolean: return Physical::kBool;
      case TypeKind::kFloat:
      case TypeKind::kDouble: return Physical::kDouble;
      case TypeKind::kDecimal: return precision <= 18 ? Physical::kInt64 : Physical::kInt128;
      case TypeKind::kString:
      case TypeKind::kBytes:
      case TypeKind::kBitmap32:
      case TypeKind::kBitmap64:
      case TypeKind::kArray: return Physical::kText;
      default: return Physical::kInt64;
    }
  }
  bool IsInteger() const { return kind >= TypeKind::kTinyint && kind <= TypeKind::kBigint; }
  bool IsNumeric() const { return kind >= TypeKind::kTinyint && kind <= TypeKind::kDecimal; }
  bool IsTimestamp() const { return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampLtz; }
  DataType ElementType() const { return {element, element_precision, element_scale}; }

  std::string ToString() const;  // as the job file writes it: decimal(12,2), array<string>
};

inline DataType BooleanType() { return {TypeKind::kBoolean}; }
inline DataType IntType() { return {TypeKind::kInt}; }
inline DataType BigintType() { return {TypeKind::kBigint}; }
inline DataType DoubleType() { return {TypeKind::kDouble}; }
inline DataType StringType() { return {TypeKind::kString}; }
inline DataType DateType() { return {TypeKind::kDate}; }
inline DataType DecimalType(int precision, int scale) {
  return {TypeKind::kDecimal, static_cast<uint8_t>(precision), static_cast<uint8_t>(scale)};
}
inline DataType TimestampType(int digits = 3) { return {TypeKind::kTimestamp, static_cast<uint8_t>(digits)}; }
inline DataType TimestampLtzType(int digits = 3) { return {TypeKind::kTimestampLtz, static_cast<uint8_t>(digits)}; }
inline DataType ArrayType(DataType element) {
  return {TypeKind::kArray, 0, 0, element.kind, element.precision, element.scale};
}

// Parses "decimal(12,2)", "timestamp(3)", "array<bigint>" and so on; empty when it is no type.
// decimal alone is decimal(38,0)... precision and scale out of range are no type.
std::optional<DataType> ParseType(std::string_view text);

struct Field {
  std::string name;
  DataType type;
  bool nullable = true;

  bool operator==(const Field&) const = default;
};

// The columns of a batch, in order.  Names may repeat (a join's output); they are for people and for sinks.
class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<Field> fields) : fields_(std::move(fields)) {}

  size_t size() const { return fields_.size(); }
  const Field& operator[](size_t i) const { return fields_[i]; }
  const std::vector<Field>& fields() const { return fields_; }
  std::optional<size_t> Find(std::string_view name) const;  // the first of that name
  bool operator==(const Schema&) const = default;

 private:
  std::vector<Field> fields_;
};

using SchemaPtr = std::shared_ptr<const Schema>;

}  // namespace weir
