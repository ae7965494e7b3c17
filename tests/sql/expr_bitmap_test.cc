#include "tests/sql/expr_test_support.h"

namespace weir {
namespace {

using expr_test::Call;
using expr_test::CastTo;
using expr_test::EvalOne;
using expr_test::Lit;
using expr_test::Table;

ExpressionPtr Array(const std::string& element, const std::vector<int64_t>& values) {
  std::vector<ExpressionPtr> items;
  for (const int64_t value : values) items.push_back(CastTo(Lit(value), element));
  return Call("ARRAY", items);
}
ExpressionPtr Build(const std::vector<int64_t>& values, const std::string& element = "bigint") {
  return Call("bitmap_build", {Array(element, values)});
}

TEST(ExprBitmap, BuiltFromArrays) {
  EXPECT_EQ(EvalOne("bitmap_to_array", {Build({3, 1, 2, 3})}), "[1,2,3]");
  EXPECT_EQ(EvalOne("bitmap_to_array", {Build({-1, 5, 4294967296})}), "[5,4294967296,-1]");
  EXPECT_EQ(EvalOne("rb_to_array", {Call("rb_build", {Array("int", {-1, 5})})}), "[5,-1]");
  EXPECT_EQ(EvalOne("bitmap_cardinality", {Build({1, 2, 2})}), "2");
  EXPECT_EQ(EvalOne("bitmap_cardinality", {MakeNull({TypeKind::kBitmap32})}), "NULL");
  EXPECT_EQ(EvalOne("bitmap_build", {Call("ARRAY", {Lit("x")})}).rfind("plan: function bitmap_build", 0), 0u);
}

TEST(ExprBitmap, Contains) {
  EXPECT_EQ(EvalOne("bitmap_contains", {Build({1, -1}), Lit(-1)}), "true");
  EXPECT_EQ(EvalOne("bitmap_contains", {Build({1, -1}), Lit(2)}), "false");
  EXPECT_EQ(EvalOne("rb_contains", {Build({-1}, "int"), Lit(4294967295)}), "true");
  EXPECT_EQ(EvalOne("rb_contains", {Build({-1}, "int"), Lit(4294967296)}), "false");
}

TEST(ExprBitmap, SetOperations) {
  const auto array = [](const std::string& name, const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    return EvalOne("bitmap_to_array", {Call(name, {Build(a), Build(b)})});
  };
  EXPECT_EQ(array("bitmap_or", {1, 2}, {2, 3}), "[1,2,3]");
  EXPECT_EQ(array("bitmap_and", {1, 2}, {2, 3}), "[2]");
  EXPECT_EQ(array("bitmap_xor", {1, 2}, {2, 3}), "[1,3]");
  EXPECT_EQ(array("bitmap_andnot", {1, 2}, {2, 3}), "[1]");
  EXPECT_EQ(array("rb_and", {1}, {2}), "[]");
  EXPECT_EQ(EvalOne("bitmap_or", {Build({1}), Build({1}, "int")}),
            "plan: bitmap_or takes two bitmaps of one width, and these are a bitmap32 and a bitmap64");
  EXPECT_EQ(EvalOne("=", {Call("bitmap_or", {Build({1}), Build({2})}), Build({2, 1})}), "true");
}

TEST(ExprBitmap, Bytes) {
  const ExpressionPtr bytes = Call("bitmap_to_bytes", {Build({1, 2, 3}, "int")});
  EXPECT_EQ(EvalOne("bitmap_to_bytes", {Build({1, 2, 3}, "int")}), "OzAAAAEAAAIAAQABAAIA");
  EXPECT_EQ(EvalOne("bitmap_to_array", {Call("bitmap_from_bytes", {bytes})}), "[1,2,3]");
  EXPECT_EQ(EvalOne("bitmap_from_bytes", {Lit("bytes", "not a bitmap")}),
            "error at 0: the bytes are no bitmap in the portable Roaring format");
  EXPECT_EQ(EvalOne("bitmap64_from_bytes", {bytes}),
            "error at 0: the bytes are no bitmap in the portable Roaring format");
}

}  // namespace
}  // namespace weir
