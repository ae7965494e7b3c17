// Where reading a Kafka partition goes on and where it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

// As text "offset/end": the next offset to read, and behind the slash the end offset of a bounded source, found at the
// job's first start, or nothing.
struct KafkaPosition {
  int64_t offset = 0;
  std::optional<int64_t> end;

  bool Ended() const { return end && offset >= *end; }
  std::string ToString() const;
  static std::optional<KafkaPosition> Parse(std::string_view text);
};

}  // namespace weir
