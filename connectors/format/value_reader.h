// The values of one declared column: checks a JSON scalar or a plain text against the type and appends it.
//
// Numbers are taken from their token, never through a double.  Used by one thread.
#pragma once

#include <string>
#include <string_view>

#include "connectors/format/format.h"
#include "engine/data/text.h"

namespace weir {

// What a format and its options allow beyond the type's own JSON form.
struct ReadRules {
  bool lenient = false;            // numbers and booleans as text, and numbers as text values
  bool text_decimals = false;      // decimals as text
  bool text_not_a_number = false;  // "NaN", "Infinity" as text for float and double
  std::string time_zone = "UTC";
};

class ValueReader {
 public:
  ValueReader(DataType type, TimeUnit unit, ReadRules rules);

  // The reader of an array's elements.
  ValueReader ForElement() const { return {type_.ElementType(), unit_, rules_}; }

  const DataType& type() const { return type_; }
  bool is_integer() const { return integer_; }
  bool is_array() const { return type_.kind == TypeKind::kArray; }
  bool is_string() const { return type_.kind == TypeKind::kString; }
  // Takes any JSON value as the text it is written as.
  bool takes_raw() const { return type_.kind == TypeKind::kString && rules_.lenient; }

  // Each appends one value, or appends nothing and returns the fault.
  ParseFault ReadNumber(std::string_view token, Column& column) const;  // REQUIRES: IsJsonNumber(token)
  ParseFault ReadText(std::string_view text, Column& column) const;     // a JSON string, unescaped
  ParseFault ReadBoolean(bool value, Column& column) const;
  // The text form of the type, as a CSV field, a default or a message key has it; epoch numbers in time columns too.
  ParseFault ReadPlain(std::string_view text, Column& column) const;
  // An integer that is known to be one; false when it is out of the type's range.
  bool ReadInteger(int64_t value, Column& column) const {
    if (value < min_ || value > max_) return false;
    column.AppendInt(value);
    return true;
  }
  // The fast way for `unscaled` / 10^fraction_digits: integers, and decimals of up to 18 digits and whole epoch numbers
  // that need no rounding.  False: nothing was appended, ReadNumber knows what to do.  REQUIRES: |unscaled| < 10^18
  bool ReadShort(int64_t unscaled, int fraction_digits, Column& column) const {
    if (integer_) return fraction_digits == 0 && ReadInteger(unscaled, column);
    if (epoch_step_ != 0) {
      int64_t micros = 0;
      if (fraction_digits != 0 || __builtin_mul_overflow(unscaled, epoch_step_, &micros)) return false;
      if (micros < kFirstTime || micros > kLastTime) return false;
      column.AppendInt(micros);
      return true;
    }
    if (!short_decimal_ || fraction_digits > type_.scale) return false;
    int64_t scaled = 0;
    const int64_t factor = short_powers_[type_.scale - fraction_digits];
    if (__builtin_mul_overflow(unscaled, factor, &scaled) || scaled <= -limit_ || scaled >= limit_) return false;
    column.AppendInt(scaled);
    return true;
  }

 private:
  ParseFault ReadNumberText(std::string_view text, bool words, Column& column) const;
  ParseFault ReadTimeText(std::string_view text, Column& column) const;
  ParseFault ReadEpoch(std::string_view token, Column& column) const;
  ParseFault AppendDecimal(Parsed<Int128> value, Column& column) const;

  DataType type_;
  TimeUnit unit_;
  ReadRules rules_;
  bool integer_;
  int64_t min_ = INT64_MIN;
  int64_t max_ = INT64_MAX;
  bool short_decimal_;  // precision of at most 18
  int64_t limit_ = 0;   // of such a decimal: 10^precision
  int64_t short_powers_[19] = {};
  Micros epoch_step_ = 0;  // of a timestamp that keeps every digit of its unit: microseconds in one
};

// "column v: 'abc' is not a bigint"; the value is shortened.
std::string DescribeFault(std::string_view column, std::string_view value, bool is_text, DataType type,
                          ParseFault fault);

}  // namespace weir
