#include "operators/key_order.h"

#include <string>
#include <unordered_map>

#include "engine/data/hash.h"
#include "engine/data/row_codec.h"

namespace weir {
namespace {

class KeyOrder final : public Operator {
 public:
  explicit KeyOrder(const KeyOrderOptions& options) : schema_(options.schema), key_(options.key) {
    std::vector<DataType> key_types;
    for (const int column : key_) key_types.push_back((*schema_)[static_cast<size_t>(column)].type);
    key_codec_ = RowCodec(key_types, RowCodec::Form::kKey);
    std::vector<DataType> types;
    for (size_t i = 0; i < schema_->size(); ++i) {
      types.push_back((*schema_)[i].type);
      columns_.push_back(static_cast<int>(i));
    }
    row_codec_ = RowCodec(types, RowCodec::Form::kExact);
  }

  Result<Progress> Process(int, const Batch& batch, Output& out) override {
    key_codec_.Encode(batch, key_, keys_);
    row_codec_.Encode(batch, columns_, rows_);
    Results results;
    for (size_t row = 0; row < batch.rows(); ++row) {
      Key& key = KeyOf(keys_.row(row));
      if (IsAdd(batch.kind(row))) {
        // The -U of the pair has made room for it, or another task's row is still to be retracted: either way this is
        // the last row now.
        key.added.emplace_back(rows_.row(row));
        Emit(results, key.shown == Shown::kUnknown ? batch.kind(row) : AddKind(key), static_cast<uint32_t>(row));
        key.shown = Shown::kRow;
        continue;
      }
      const bool with_next = batch.IsUpdatePair(row) && keys_.row(row) == keys_.row(row + 1);
      Retract(key, row, with_next, results);
    }
    Flush(batch, results, out);
    return Progress::kDone;
  }

  Status OnBarrier(Output&) override {
    changed_.clear();
    return {};
  }

 private:
  enum class Shown : uint8_t { kUnknown, kRow, kNothing };  // what was emitted last for the key in this epoch
  struct Key {
    std::vector<std::string> added;
    Shown shown = Shown::kUnknown;
  };
  struct Results {
    Selection rows;  // of the batch, then of `kept`
    std::vector<RowKind> kinds;
    std::vector<std::string> kept;  // rows left from earlier batches
  };

  Key& KeyOf(std::string_view bytes) { return changed_[std::string(bytes)]; }
  static RowKind AddKind(const Key& key) { return key.shown == Shown::kRow ? RowKind::kUpdateAfter : RowKind::kInsert; }

  static void Emit(Results& results, RowKind kind, uint32_t row) {
    results.rows.push_back(row);
    results.kinds.push_back(kind);
  }

  void Retract(Key& key, size_t row, bool with_next, Results& results) {
    const std::string_view bytes = rows_.row(row);
    bool was_last = key.added.empty();
    for (size_t i = key.added.size(); i-- > 0;) {
      if (key.added[i] != bytes) continue;
      was_last = i + 1 == key.added.size();
      key.added.erase(key.added.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    // The +U that follows says what is there now.
    if (with_next) return;
    if (key.added.empty()) {
      if (key.shown != Shown::kNothing) Emit(results, RowKind::kDelete, static_cast<uint32_t>(row));
      key.shown = Shown::kNothing;
    } else if (was_last) {
      results.kept.push_back(key.added.back());
      Emit(results, RowKind::kUpdateAfter, kKept + static_cast<uint32_t>(results.kept.size() - 1));
      key.shown = Shown::kRow;
    }
  }

  void Flush(const Batch& batch, Results& results, Output& out) {
    if (results.rows.empty()) return;
    std::vector<ColumnPtr> columns = batch.columns();
    if (!results.kept.empty()) {
      std::vector<const char*> kept;
      for (std::string& row : results.kept) {
        row.append(2 * kRowSlack, '\0');
        kept.push_back(row.data());
      }
      std::vector<std::shared_ptr<Column>> made;
      std::vector<Column*> targets;
      for (size_t i = 0; i < schema_->size(); ++i) {
        made.push_back(std::make_shared<Column>((*schema_)[i].type));
        made.back()->AppendAll(batch.column(i));
        targets.push_back(made.back().get());
      }
      row_codec_.Decode(kept, targets);
      columns.assign(made.begin(), made.end());
      for (uint32_t& row : results.rows) row = row >= kKept ? static_cast<uint32_t>(row - kKept + batch.rows()) : row;
    }
    std::vector<ColumnPtr> gathered;
    for (const ColumnPtr& column : columns) gathered.push_back(Column::Gather(column, results.rows));
    out.Emit(Batch(schema_, std::move(gathered), results.rows.size(), std::move(results.kinds)));
  }

  static constexpr uint32_t kKept = 0x80000000u;

  SchemaPtr schema_;
  std::vector<int> key_;
  std::vector<int> columns_;
  RowCodec key_codec_;
  RowCodec row_codec_;
  EncodedRows keys_;
  EncodedRows rows_;
  std::unordered_map<std::string, Key> changed_;  // keys of the running epoch
};

}  // namespace

Result<std::unique_ptr<Operator>> MakeKeyOrder(const KeyOrderOptions& options) {
  if (options.key.empty()) return PlanError("key order needs a key");
  return std::unique_ptr<Operator>(std::make_unique<KeyOrder>(options));
}

}  // namespace weir
