#include "operators/aggregate/bitmap_state.h"

#include "engine/data/bitmap.h"
#include "operators/aggregate/object_state.h"

namespace weir {
namespace {

using F = AggregateFunction;

enum class Operation { kBuild, kAnd, kOr, kXor };

Operation OperationOf(AggregateFunction function) {
  switch (function) {
    case F::kBitmapAnd:
    case F::kBitmapAndCardinality:
      return Operation::kAnd;
    case F::kBitmapOr:
    case F::kBitmapOrCardinality:
      return Operation::kOr;
    case F::kBitmapXor:
    case F::kBitmapXorCardinality:
      return Operation::kXor;
    default:
      return Operation::kBuild;
  }
}

bool GivesCount(AggregateFunction function) {
  return function == F::kBitmapBuildCardinality || function == F::kBitmapCountDistinct ||
         function == F::kBitmapAndCardinality || function == F::kBitmapOrCardinality ||
         function == F::kBitmapXorCardinality;
}

// The bitmap of a group, with how many values have made it: without one the result is NULL, not an empty bitmap.
struct GroupBitmap {
  TypeKind kind = TypeKind::kBitmap64;
  int64_t values = 0;
  Bitmap bitmap;

  void Serialise(std::string& out) {
    out.append(reinterpret_cast<const char*>(&values), sizeof values);
    bitmap.Serialise(out);
  }
  size_t ByteSize() const { return sizeof *this + bitmap.ByteSize(); }
  static std::optional<GroupBitmap> Parse(const GroupBitmap& empty, std::string_view bytes) {
    if (bytes.size() < sizeof(int64_t)) return std::nullopt;
    std::optional<Bitmap> bitmap = Bitmap::Parse(empty.kind, bytes.substr(sizeof(int64_t)));
    if (!bitmap) return std::nullopt;
    return GroupBitmap{empty.kind, LoadAt<int64_t>(bytes.data()), std::move(*bitmap)};
  }
};

class BitmapState final : public ObjectState<GroupBitmap> {
 public:
  BitmapState(const AggregateCall& call, TypeKind kind, uint8_t part, KeyedState* state)
      : ObjectState({kind, 0, Bitmap(kind)}, part, state),
        call_(call),
        kind_(kind),
        operation_(OperationOf(call.function)) {}

  Result<int64_t> Update(const Batch& batch, std::span<const int8_t> signs, std::span<char* const> groups) override {
    const Column& column = batch.column(static_cast<size_t>(call_.argument));
    const Column* filter = FilterColumn(batch, call_);
    // Rows of one group often follow each other.
    char* group = nullptr;
    GroupBitmap* own = nullptr;
    for (size_t row = 0; row < batch.rows(); ++row) {
      if (signs[row] == 0 || column.IsNull(row) || !FilterPasses(filter, row)) continue;
      if (groups[row] != group) {
        group = groups[row];
        own = &Change(group);
      }
      if (operation_ == Operation::kBuild) {
        own->values += signs[row];
        own->bitmap.Add(BitmapId(kind_, column.ints()[row]));
      } else {
        WEIR_TRY(Combine(*own, column.text(row), signs[row]));
      }
    }
    return 0;
  }

  void UpdateOne(char* group, const Column& column, size_t row, int sign) override {
    GroupBitmap& own = Change(group);
    own.values += sign;
    const uint64_t id = BitmapId(kind_, column.ints()[row]);
    if (sign > 0) {
      own.bitmap.Add(id);
    } else {
      own.bitmap.Remove(id);
    }
  }

  Status Append(const char* group, Column& out) override {
    GroupBitmap* own = Find(group);
    const bool none = own == nullptr || own->values <= 0;
    if (none && call_.function == F::kBitmapCountDistinct) {
      out.AppendInt(0);
    } else if (none) {
      out.AppendNull();
    } else if (GivesCount(call_.function)) {
      out.AppendInt(static_cast<int64_t>(own->bitmap.Cardinality()));
    } else {
      bytes_of_result_.clear();
      own->bitmap.Serialise(bytes_of_result_);
      constexpr size_t kMaxResultBytes = size_t{1} << 30;  // of one column in one batch
      if (bytes_of_result_.size() + out.mutable_arena().size() > kMaxResultBytes)
        return DataError("the result of " + call_.name + " is too large");
      out.AppendText(bytes_of_result_);
    }
    return {};
  }

 private:
  void Merge(GroupBitmap& own, GroupBitmap& other) override {
    const bool first = own.values == 0;
    own.values += other.values;
    if (other.values == 0) return;
    if (operation_ == Operation::kXor) {
      own.bitmap.Xor(other.bitmap);
    } else if (operation_ != Operation::kAnd) {
      own.bitmap.Or(other.bitmap);
    } else if (first) {
      own.bitmap = std::move(other.bitmap);
    } else {
      own.bitmap.And(other.bitmap);
    }
  }

  Status Combine(GroupBitmap& own, std::string_view bytes, int sign) {
    std::optional<Bitmap> other = Bitmap::Parse(kind_, bytes);
    if (!other) return DataError(call_.name + ": the bytes are no bitmap");
    const bool first = own.values == 0;
    own.values += sign;
    switch (operation_) {
      case Operation::kAnd:
        if (first) {
          own.bitmap = std::move(*other);
        } else {
          own.bitmap.And(*other);
        }
        break;
      case Operation::kOr:
        own.bitmap.Or(*other);
        break;
      default:
        own.bitmap.Xor(*other);  // its own inverse
        break;
    }
    return {};
  }

  AggregateCall call_;
  TypeKind kind_;
  Operation operation_;
  std::string bytes_of_result_;
};

}  // namespace

std::unique_ptr<CallState> MakeBitmapState(const AggregateCall& call, const DataType& argument, uint8_t part,
                                           KeyedState* state) {
  const bool wide = argument.kind == TypeKind::kBigint || argument.kind == TypeKind::kBitmap64;
  return std::make_unique<BitmapState>(call, wide ? TypeKind::kBitmap64 : TypeKind::kBitmap32, part, state);
}

}  // namespace weir
