// Rows to JSON objects.
#pragma once

#include <string>
#include <vector>

#include "connectors/format/format.h"

namespace weir {

// Immutable: one is shared by the tasks of a sink.
class JsonEncoder final : public Encoder {
 public:
  // With `with_kind` every object begins with "op".
  JsonEncoder(SchemaPtr schema, bool with_kind);

  void Encode(const Batch& batch, std::string& out, std::vector<size_t>& ends) const override;
  void EncodeKey(const Batch& batch, std::span<const int> columns, std::string& out,
                 std::vector<size_t>& ends) const override;

 private:
  const SchemaPtr schema_;
  const bool with_kind_;
  std::vector<std::string> names_;  // "name": as JSON, escaped once
};

// Rows to RFC 4180 records: NULL is an empty field, the empty text is quoted.  Keys are JSON objects all the same.
class CsvEncoder final : public Encoder {
 public:
  explicit CsvEncoder(SchemaPtr schema) : schema_(std::move(schema)), keys_(schema_, false) {}

  void Encode(const Batch& batch, std::string& out, std::vector<size_t>& ends) const override;
  void EncodeKey(const Batch& batch, std::span<const int> columns, std::string& out,
                 std::vector<size_t>& ends) const override {
    keys_.EncodeKey(batch, columns, out, ends);
  }

 private:
  const SchemaPtr schema_;
  const JsonEncoder keys_;
};

}  // namespace weir
