// Bitmaps: functions by Flink's names (BITMAP_...) and by those of Fluss (rb_...).
//
// Values in batches are canonical bytes (engine/data/bitmap.h), so = and GROUP BY compare them as they are; a function
// that gives a bitmap writes canonical bytes.  NULL in, NULL out.
#include "sql/expr/bitmap_functions.h"

#include "engine/data/array_codec.h"
#include "engine/data/bitmap.h"
#include "sql/expr/kernel.h"
#include "sql/expr/types.h"

namespace weir {
namespace {

using View = std::string_view;
using Arguments = std::vector<ExpressionPtr>;

constexpr const char* kNoBitmap = "the bytes are no bitmap in the portable Roaring format";

bool IsBitmap(const Expression& expression) { return weir::IsBitmap(expression.type().kind); }

// A NULL is a bitmap of either kind.
bool TakesBitmap(ExpressionPtr& argument, TypeKind kind) {
  if (IsNullLiteral(*argument)) argument = MakeNull(DataType{kind});
  return IsBitmap(*argument);
}

DataType KindFor(const DataType& element) {
  return {element.kind == TypeKind::kBigint ? TypeKind::kBitmap64 : TypeKind::kBitmap32};
}

Result<ExpressionPtr> BindBuild(const std::string& name, Arguments arguments) {
  const DataType& array = arguments[0]->type();
  if (array.kind != TypeKind::kArray || !array.ElementType().IsInteger()) return NoSuchFunction(name, arguments);
  const DataType element = array.ElementType();
  const DataType type = KindFor(element);
  Kernel kernel = [element, type](const KernelInput& input) {
    return MapText<View>(input, type, [&](View array_bytes, std::string& out) {
      Column elements(element);
      DecodeArray(array_bytes, elements);
      Bitmap bitmap(type.kind);
      for (size_t i = 0; i < elements.size(); ++i) {
        if (!elements.IsNull(i)) bitmap.Add(BitmapId(type.kind, elements.ints()[i]));
      }
      bitmap.Serialise(out);
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

Result<ExpressionPtr> BindCardinality(const std::string& name, Arguments arguments) {
  if (!TakesBitmap(arguments[0], TypeKind::kBitmap64)) return NoSuchFunction(name, arguments);
  const TypeKind kind = arguments[0]->type().kind;
  Kernel kernel = [kind](const KernelInput& input) {
    return MapRows<int64_t, View>(
        input, BigintType(), [kind](View bytes) { return static_cast<int64_t>(BitmapCardinality(kind, bytes)); });
  };
  return MakeKernelCall({name, BigintType(), std::move(arguments), std::move(kernel)});
}

Result<ExpressionPtr> BindContainsId(const std::string& name, Arguments arguments) {
  if (!TakesBitmap(arguments[0], TypeKind::kBitmap64)) return NoSuchFunction(name, arguments);
  const TypeKind kind = arguments[0]->type().kind;
  WEIR_ASSIGN(arguments, Accept(name, "*l", std::move(arguments)));
  Kernel kernel = [kind](const KernelInput& input) {
    return MapRows<uint8_t, View, int64_t>(input, BooleanType(), [kind](View bytes, int64_t id) -> uint8_t {
      // Of a bitmap32 ids may be written with or without a sign.
      if (kind == TypeKind::kBitmap32 && (id < INT32_MIN || id > UINT32_MAX)) return 0;
      const std::optional<Bitmap> bitmap = Bitmap::Parse(kind, bytes);
      return bitmap && bitmap->Contains(BitmapId(kind, id));
    });
  };
  return MakeKernelCall({name, BooleanType(), std::move(arguments), std::move(kernel)});
}

using Operation = void (Bitmap::*)(const Bitmap&);

Result<ExpressionPtr> BindOperation(const std::string& name, Arguments arguments, Operation operation) {
  const TypeKind known = IsBitmap(*arguments[0]) ? arguments[0]->type().kind : arguments[1]->type().kind;
  if (!weir::IsBitmap(known) || !TakesBitmap(arguments[0], known) || !TakesBitmap(arguments[1], known))
    return NoSuchFunction(name, arguments);
  if (arguments[0]->type() != arguments[1]->type())
    return PlanError(name + " takes two bitmaps of one width, and these are a bitmap32 and a bitmap64");
  Kernel kernel = [known, operation](const KernelInput& input) {
    return MapText<View, View>(input, DataType{known}, [&](View a, View b, std::string& out, Failure& failure) {
      std::optional<Bitmap> left = Bitmap::Parse(known, a);
      const std::optional<Bitmap> right = Bitmap::Parse(known, b);
      if (!left || !right) return failure.Set(kNoBitmap);
      ((*left).*operation)(*right);
      left->Serialise(out);
    });
  };
  return MakeKernelCall({name, DataType{known}, std::move(arguments), std::move(kernel)});
}

Result<ExpressionPtr> BindOr(const std::string& name, Arguments arguments) {
  return BindOperation(name, std::move(arguments), &Bitmap::Or);
}
Result<ExpressionPtr> BindAnd(const std::string& name, Arguments arguments) {
  return BindOperation(name, std::move(arguments), &Bitmap::And);
}
Result<ExpressionPtr> BindXor(const std::string& name, Arguments arguments) {
  return BindOperation(name, std::move(arguments), &Bitmap::Xor);
}
Result<ExpressionPtr> BindAndNot(const std::string& name, Arguments arguments) {
  return BindOperation(name, std::move(arguments), &Bitmap::AndNot);
}

// In the order of the ids without a sign: a negative int comes behind the others.
Result<ExpressionPtr> BindToArray(const std::string& name, Arguments arguments) {
  if (!TakesBitmap(arguments[0], TypeKind::kBitmap64)) return NoSuchFunction(name, arguments);
  const TypeKind kind = arguments[0]->type().kind;
  const DataType element = kind == TypeKind::kBitmap32 ? IntType() : BigintType();
  Kernel kernel = [kind, element](const KernelInput& input) {
    return MapText<View>(input, ArrayType(element), [&](View bytes, std::string& out, Failure& failure) {
      constexpr uint64_t kMaxElements = uint64_t{1} << 26;  // of one array: 600 MB
      if (BitmapCardinality(kind, bytes) > kMaxElements) return failure.Set("array too large");
      const std::optional<Bitmap> bitmap = Bitmap::Parse(kind, bytes);
      if (!bitmap) return failure.Set(kNoBitmap);
      std::vector<uint64_t> ids;
      bitmap->AppendIds(ids);
      Column elements(element);
      for (const uint64_t id : ids) elements.AppendInt(BitmapValue(kind, id));
      AppendArray(elements, 0, elements.size(), out);
    });
  };
  return MakeKernelCall({name, ArrayType(element), std::move(arguments), std::move(kernel), true});
}

Result<ExpressionPtr> BindToBytes(const std::string& name, Arguments arguments) {
  if (!TakesBitmap(arguments[0], TypeKind::kBitmap64)) return NoSuchFunction(name, arguments);
  const DataType type{TypeKind::kBytes};
  Kernel kernel = [type](const KernelInput& input) {
    return MapText<View>(input, type, [](View bytes, std::string& out) { out = bytes; });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel)});
}

Result<ExpressionPtr> BindFromBytes(const std::string& name, Arguments arguments) {
  if (IsNullLiteral(*arguments[0])) arguments[0] = MakeNull({TypeKind::kBytes});
  if (arguments[0]->type().kind != TypeKind::kBytes) return NoSuchFunction(name, arguments);
  const DataType type{name == "bitmap64_from_bytes" ? TypeKind::kBitmap64 : TypeKind::kBitmap32};
  Kernel kernel = [type](const KernelInput& input) {
    return MapText<View>(input, type, [&](View bytes, std::string& out, Failure& failure) {
      std::optional<std::string> canonical = CanonicalBitmap(type.kind, bytes);
      if (!canonical) return failure.Set(kNoBitmap);
      out = std::move(*canonical);
    });
  };
  return MakeKernelCall({name, type, std::move(arguments), std::move(kernel), true});
}

}  // namespace

std::span<const FunctionRule> BitmapRules() {
  static constexpr FunctionRule kRules[] = {
      {"bitmap_build", 1, 1, BindBuild},
      {"rb_build", 1, 1, BindBuild},
      {"bitmap_cardinality", 1, 1, BindCardinality},
      {"rb_cardinality", 1, 1, BindCardinality},
      {"bitmap_contains", 2, 2, BindContainsId},
      {"rb_contains", 2, 2, BindContainsId},
      {"bitmap_or", 2, 2, BindOr},
      {"rb_or", 2, 2, BindOr},
      {"bitmap_and", 2, 2, BindAnd},
      {"rb_and", 2, 2, BindAnd},
      {"bitmap_xor", 2, 2, BindXor},
      {"rb_xor", 2, 2, BindXor},
      {"bitmap_andnot", 2, 2, BindAndNot},
      {"rb_andnot", 2, 2, BindAndNot},
      {"bitmap_to_array", 1, 1, BindToArray},
      {"rb_to_array", 1, 1, BindToArray},
      {"bitmap_to_bytes", 1, 1, BindToBytes},
      {"bitmap_from_bytes", 1, 1, BindFromBytes},
      {"bitmap64_from_bytes", 1, 1, BindFromBytes},
  };
  return kRules;
}

}  // namespace weir
