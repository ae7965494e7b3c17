#include "operators/table_index.h"

#include "engine/data/bucket.h"
#include "engine/data/row_codec.h"

namespace weir {
namespace {

// Takes rows of the table, and adds them to the index a batch at a time.
class IndexRows {
 public:
  IndexRows(const TableIndexOptions& options, TableFill& rows) : options_(options), rows_(rows) {
    const Schema& schema = *options.schema;
    std::vector<DataType> types;
    for (const Field& field : schema.fields()) types.push_back(field.type);
    row_codec_ = RowCodec(types, RowCodec::Form::kExact);
    std::vector<DataType> key_types;
    for (const int column : options.key) key_types.push_back(schema[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(key_types, RowCodec::Form::kKey);
  }

  Status Take(std::string_view row) {
    bytes_.append(row);
    ends_.push_back(bytes_.size());
    return ends_.size() < kBatchRows ? Status{} : Flush();
  }

  Status Flush() {
    const size_t count = ends_.size();
    if (count == 0) return {};
    const Batch batch = Decode();
    key_codec_.Encode(batch, options_.key, keys_);
    BucketRows(batch, options_.bucket_columns, options_.buckets, buckets_);
    for (size_t i = 0; i < count; ++i) WEIR_TRY(rows_.Add(buckets_[i], keys_.row(i), {}, Row(i)));
    bytes_.clear();
    ends_.clear();
    return {};
  }

 private:
  std::string_view Row(size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

  Batch Decode() {
    bytes_.append(kRowSlack, '\0');  // that the codec may touch
    std::vector<const char*> starts;
    for (size_t i = 0; i < ends_.size(); ++i) starts.push_back(Row(i).data());
    std::vector<std::shared_ptr<Column>> columns;
    std::vector<Column*> targets;
    for (const Field& field : options_.schema->fields()) {
      columns.push_back(std::make_shared<Column>(field.type));
      targets.push_back(columns.back().get());
    }
    row_codec_.Decode(starts, targets);
    return Batch(options_.schema, std::vector<ColumnPtr>(columns.begin(), columns.end()), ends_.size());
  }

  const TableIndexOptions& options_;
  TableFill& rows_;
  RowCodec row_codec_;
  RowCodec key_codec_;
  std::string bytes_;
  std::vector<size_t> ends_;
  EncodedRows keys_;
  std::vector<uint16_t> buckets_;
};

}  // namespace

Status FillIndex(const TableIndexOptions& options, TableFill& rows) {
  IndexRows index(options, rows);
  for (int bucket = 0; bucket < options.table->buckets(); ++bucket) {
    WEIR_TRY(options.table->ReadRestored(
        bucket, [&](std::string_view, std::string_view, std::string_view row) { return index.Take(row); }));
  }
  return index.Flush();
}

}  // namespace weir
