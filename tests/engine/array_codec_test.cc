#include "engine/data/array_codec.h"

#include <gtest/gtest.h>

#include "engine/data/text.h"

namespace weir {
namespace {

// Three elements, the middle one NULL, as an array value; read back and shown as JSON.
template <class Fill>
std::string ThereAndBack(DataType element, Fill fill) {
  Column elements(element);
  fill(elements);
  std::string bytes;
  AppendArray(elements, 0, elements.size(), bytes);
  EXPECT_EQ(ArraySize(bytes), elements.size());
  Column array(ArrayType(element));
  array.AppendText(bytes);
  std::string text;
  AppendValueText(array, 0, text);
  return text;
}

TEST(ArrayCodec, EveryPhysicalForm) {
  EXPECT_EQ(ThereAndBack(BooleanType(), [](Column& c) { c.AppendBool(true), c.AppendNull(), c.AppendBool(false); }),
            "[true,null,false]");
  EXPECT_EQ(ThereAndBack(BigintType(), [](Column& c) { c.AppendInt(-1), c.AppendNull(), c.AppendInt(INT64_MAX); }),
            "[-1,null,9223372036854775807]");
  EXPECT_EQ(ThereAndBack(DoubleType(), [](Column& c) { c.AppendDouble(0.5), c.AppendNull(), c.AppendDouble(-0.0); }),
            "[0.5,null,-0]");
  EXPECT_EQ(ThereAndBack(DecimalType(38, 1), [](Column& c) { c.AppendWide(15), c.AppendNull(), c.AppendWide(-1); }),
            "[1.5,null,-0.1]");
  EXPECT_EQ(ThereAndBack(StringType(), [](Column& c) { c.AppendText("a\n"), c.AppendNull(), c.AppendText(""); }),
            "[\"a\\n\",null,\"\"]");
  EXPECT_EQ(ThereAndBack(StringType(), [](Column&) {}), "[]");
}

TEST(ArrayCodec, APartOfAColumn) {
  Column elements(BigintType());
  for (int i = 0; i < 5; ++i) elements.AppendInt(i);
  std::string bytes;
  AppendArray(elements, 1, 3, bytes);
  Column back(BigintType());
  DecodeArray(bytes, back);
  ASSERT_EQ(back.size(), 3U);
  EXPECT_EQ(back.ints()[0], 1);
  EXPECT_EQ(back.ints()[2], 3);
}

TEST(ArrayCodec, TheEmptyTextOfANullRowIsAnEmptyArray) {
  EXPECT_EQ(ArraySize(""), 0U);
  Column back(BigintType());
  DecodeArray("", back);
  EXPECT_EQ(back.size(), 0U);
}

}  // namespace
}  // namespace weir
