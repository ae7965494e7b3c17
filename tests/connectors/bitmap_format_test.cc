// Bitmaps in messages: base64 of the portable format, checked when they are read.
#include "tests/connectors/decode.h"

namespace weir {
namespace {

using testing::Declare;
using testing::Decode;
using testing::Options;

TEST(BitmapFormat, IsBase64OfThePortableFormat) {
  // {1, 2, 3} as an array and as a run; what is read has one form.
  const auto decoded = Decode(Options({Declare("b", "bitmap32")}), {R"({"b":"OjAAAAEAAAAAAAIAEAAAAAEAAgADAA=="})",
                                                                    R"({"b":"OzAAAAEAAAIAAQABAAIA"})", R"({"b":null})"});
  EXPECT_EQ(decoded.rows, "+I OzAAAAEAAAIAAQABAAIA\n+I OzAAAAEAAAIAAQABAAIA\n+I NULL\n");
  EXPECT_EQ(Decode(Options({Declare("b", "bitmap64")}), {R"({"b":"AAAAAAAAAAA="})"}).rows, "+I AAAAAAAAAAA=\n");
}

TEST(BitmapFormat, WhatIsNoBitmapIsABadRecord) {
  // Cut off, not ascending, a wrong count, a byte too many, text, and the other width.
  for (const char* text : {"", "OjAAAAEAAAA=", "OjAAAAEAAAAAAAIAEAAAAAMAAQACAA==", "OjAAAAEAAAAAAP8PEAAAAAEAAgADAA==",
                           "OjAAAAEAAAAAAAIAEAAAAAEAAgADAAAA", "bm90IGEgYml0bWFw", "AAAAAAAAAAA="}) {
    const auto decoded = Decode(Options({Declare("b", "bitmap32")}), {R"({"b":")" + std::string(text) + R"("})"});
    EXPECT_EQ(decoded.rows, "") << text;
    EXPECT_EQ(decoded.errors.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace weir
