// The names of the columns are escaped and joined with their commas before the rows; the output grows once a batch.
#include "connectors/format/encoders.h"
#include "engine/data/text.h"

namespace weir {
namespace {

// One column of the batch being encoded.
struct Part {
  const Column* column;
  std::string prefix;  // ,"name":
};

void AppendValue(const Column& column, size_t row, std::string& out) {
  if (column.IsNull(row)) {
    out += "null";
    return;
  }
  switch (column.type().kind) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
      return AppendInteger(column.ints()[row], out);
    case TypeKind::kString:
      return AppendJsonString(column.text(row), out);
    default:
      return AppendJsonValue(column, row, out);
  }
}

// `behind_kind`: the row's kind stands before the first column.
std::vector<Part> Parts(const Batch& batch, std::span<const int> columns, const std::vector<std::string>& names,
                        bool behind_kind) {
  std::vector<Part> parts;
  parts.reserve(columns.size());
  for (const int index : columns) {
    const auto i = static_cast<size_t>(index);
    Part part{&batch.column(i), {}};
    if (behind_kind || !parts.empty()) part.prefix += ',';
    part.prefix += names[i];
    parts.push_back(std::move(part));
  }
  return parts;
}

// Room for the rows' text, so that the output grows once a batch: texts as they are, 24 bytes for anything else.
size_t RoomFor(const Batch& batch, const std::vector<Part>& parts) {
  size_t bytes = batch.rows() * 16;
  for (const Part& part : parts) {
    bytes += batch.rows() * (part.prefix.size() + 24);
    for (const TextRef& ref : part.column->texts()) bytes += ref.size;
  }
  return bytes;
}

}  // namespace

JsonEncoder::JsonEncoder(SchemaPtr schema, bool with_kind) : schema_(std::move(schema)), with_kind_(with_kind) {
  for (const Field& field : schema_->fields()) {
    std::string name;
    AppendJsonString(field.name, name);
    names_.push_back(name + ":");
  }
}

void JsonEncoder::Encode(const Batch& batch, std::string& out, std::vector<size_t>& ends) const {
  WEIR_CHECK_EQ(batch.schema()->size(), schema_->size());
  std::vector<int> all(schema_->size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  const std::vector<Part> parts = Parts(batch, all, names_, with_kind_);
  out.reserve(out.size() + RoomFor(batch, parts));
  ends.reserve(ends.size() + batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    out += '{';
    if (with_kind_) {
      static constexpr std::string_view kOps[] = {"\"op\":\"+I\"", "\"op\":\"-U\"", "\"op\":\"+U\"", "\"op\":\"-D\""};
      out += kOps[static_cast<size_t>(batch.kind(row))];
    }
    for (const Part& part : parts) {
      out += part.prefix;
      AppendValue(*part.column, row, out);
    }
    out += '}';
    ends.push_back(out.size());
  }
}

void JsonEncoder::EncodeKey(const Batch& batch, std::span<const int> columns, std::string& out,
                            std::vector<size_t>& ends) const {
  const std::vector<Part> parts = Parts(batch, columns, names_, false);
  out.reserve(out.size() + RoomFor(batch, parts));
  ends.reserve(ends.size() + batch.rows());
  for (size_t row = 0; row < batch.rows(); ++row) {
    out += '{';
    for (const Part& part : parts) {
      out += part.prefix;
      AppendValue(*part.column, row, out);
    }
    out += '}';
    ends.push_back(out.size());
  }
}

}  // namespace weir
