#include "engine/data/bitmap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "engine/data/text.h"

namespace weir {
namespace {

using Set = std::set<uint64_t>;

std::string Bytes(Bitmap bitmap) {
  std::string bytes;
  bitmap.Serialise(bytes);
  return bytes;
}

Bitmap Of(TypeKind kind, const Set& ids) {
  Bitmap bitmap(kind);
  for (const uint64_t id : ids) bitmap.Add(id);
  return bitmap;
}

Set SetOf(const Bitmap& bitmap) {
  std::vector<uint64_t> ids;
  bitmap.AppendIds(ids);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  return {ids.begin(), ids.end()};
}

std::string Base64(const std::string& bytes) {
  std::string text;
  AppendBase64(bytes, text);
  return text;
}

// Values of https://github.com/RoaringBitmap/RoaringFormatSpec, written by another implementation.
TEST(Bitmap, HasTheBytesOfThePortableFormat) {
  EXPECT_EQ(Base64(Bytes(Of(TypeKind::kBitmap32, {}))), "OjAAAAAAAAA=");
  EXPECT_EQ(Base64(Bytes(Of(TypeKind::kBitmap32, {0}))), "OjAAAAEAAAAAAAAAEAAAAAAA");
  EXPECT_EQ(Base64(Bytes(Of(TypeKind::kBitmap32, {4294967295}))), "OjAAAAEAAAD//wAAEAAAAP//");
  EXPECT_EQ(Base64(Bytes(Of(TypeKind::kBitmap32, {1, 2, 3}))), "OzAAAAEAAAIAAQABAAIA");  // a run
  EXPECT_EQ(Base64(Bytes(Of(TypeKind::kBitmap64, {}))), "AAAAAAAAAAA=");
}

TEST(Bitmap, ReadsWhatOthersWriteAndGivesItsOwnBytes) {
  for (const char* text : {"OjAAAAEAAAAAAAIAEAAAAAEAAgADAA==", "OzAAAAEAAAIAAQABAAIA"}) {
    const auto read = Bitmap::Parse(TypeKind::kBitmap32, *ParseBase64(text));
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(SetOf(*read), (Set{1, 2, 3}));
    EXPECT_EQ(Bytes(*read), Bytes(Of(TypeKind::kBitmap32, {1, 2, 3})));
  }
}

TEST(Bitmap, RefusesBytesThatAreNone) {
  for (const char* text :
       {"", "Og==", "OjAAAAEAAAA=", "OTAAAAEAAAAAAAIAEAAAAAEAAgADAA==", "OjAAAP////8AAAIAEAAAAAEAAgADAA==",
        "OjAAAAEAAAAAAP8PEAAAAAEAAgADAA==", "OjAAAAEAAAAAAAIAEAAAAAMAAQACAA==", "OjAAAAEAAAAAAAIAEAAAAAEAAQACAA==",
        "OzAAAAEAAAoAAQD6/woA", "OzAAAAEAABMAAgAAAAkABQAJAA==", "OjAAAAEAAAAAAAIAEAAAAAEAAgADAAAA"}) {
    EXPECT_FALSE(Bitmap::Parse(TypeKind::kBitmap32, *ParseBase64(text))) << text;
  }
  for (const char* text : {"", "BQAAAA==", "BQAAAAAAAAA=", "OjAAAAAAAAA="}) {
    EXPECT_FALSE(Bitmap::Parse(TypeKind::kBitmap64, *ParseBase64(text))) << text;
  }
}

// Bytes cut off or changed anywhere are refused or are another set: nothing else happens.
TEST(Bitmap, SurvivesBrokenBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const TypeKind kind : {TypeKind::kBitmap32, TypeKind::kBitmap64}) {
    Set ids;
    for (uint64_t i = 0; i < 6000; ++i) ids.insert(i * 3);
    for (uint64_t i = 0; i < 5; ++i) ids.insert((i << 17) + 70000);
    if (kind == TypeKind::kBitmap64) ids.insert(uint64_t{5} << 40);
    const std::string good = Bytes(Of(kind, ids));
    for (size_t size = 0; size < good.size(); size += 1 + random() % 40) {
      EXPECT_FALSE(Bitmap::Parse(kind, good.substr(0, size)));
    }
    for (int i = 0; i < 2000; ++i) {
      std::string bad = good;
      bad[i < 1000 ? random() % 60 : random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
      if (const auto read = Bitmap::Parse(kind, bad)) {
        EXPECT_EQ(SetOf(*Bitmap::Parse(kind, Bytes(*read))), SetOf(*read));
      }
    }
  }
}

Set RandomSet(TypeKind kind, std::mt19937_64& random) {
  Set ids;
  const uint64_t spread = uint64_t{1} << (kind == TypeKind::kBitmap32 ? 4 + random() % 28 : 4 + random() % 60);
  const size_t count = random() % 300;
  for (size_t i = 0; i < count; ++i) {
    uint64_t id = random() % spread;
    // The ends of containers and of the range are where things go wrong.
    if (random() % 8 == 0) id |= 0xFFC0;
    if (random() % 64 == 0) id = (kind == TypeKind::kBitmap32 ? UINT32_MAX : UINT64_MAX) - random() % 64;
    const uint64_t run = random() % 4 == 0 ? random() % 60 : 1;
    for (uint64_t k = 0; k < run && id >= k; ++k, ++id) {
      if (kind == TypeKind::kBitmap64 || id <= UINT32_MAX) ids.insert(id);
    }
  }
  return ids;
}

// The operations against std::set; and whatever has made a set, its bytes are those of the set made one by one.
TEST(Bitmap, OperationsAreThoseOfSetsWithCanonicalBytes) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 24; ++round) {
    const TypeKind kind = round % 2 == 0 ? TypeKind::kBitmap32 : TypeKind::kBitmap64;
    Set model = RandomSet(kind, random);
    Bitmap bitmap = Of(kind, model);
    for (int step = 0; step < 6; ++step) {
      Set other = RandomSet(kind, random);
      for (const uint64_t id : model) {
        if (random() % 3 == 0) other.insert(id);
      }
      const Bitmap with = Of(kind, other);
      Set result;
      switch (random() % 7) {
        case 0:
          bitmap.Or(with);
          result = model;
          result.insert(other.begin(), other.end());
          break;
        case 1:
          bitmap.And(with);
          for (const uint64_t id : model) {
            if (other.count(id)) result.insert(id);
          }
          break;
        case 2:
          bitmap.Xor(with);
          result = model;
          for (const uint64_t id : other) {
            if (!result.erase(id)) result.insert(id);
          }
          break;
        case 3:
          bitmap.AndNot(with);
          result = model;
          for (const uint64_t id : other) result.erase(id);
          break;
        case 4:
          result = model;
          for (const uint64_t id : other) EXPECT_EQ(bitmap.Add(id), result.insert(id).second);
          break;
        default:
          result = model;
          for (const uint64_t id : other) {
            if (result.count(id)) {
              EXPECT_TRUE(bitmap.Remove(id));
              result.erase(id);
            } else {
              EXPECT_FALSE(bitmap.Remove(id));
            }
          }
          break;
      }
      model = std::move(result);
      ASSERT_EQ(SetOf(bitmap), model);
      ASSERT_EQ(bitmap.Cardinality(), model.size());
      const std::string bytes = Bytes(bitmap);
      ASSERT_EQ(bytes, Bytes(Of(kind, model)));
      ASSERT_EQ(BitmapCardinality(kind, bytes), model.size());
      if (random() % 2 == 0) bitmap = *Bitmap::Parse(kind, bytes);
    }
  }
}

}  // namespace
}  // namespace weir
