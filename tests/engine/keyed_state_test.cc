#include "engine/state/keyed_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <unordered_map>

#include "engine/data/hash.h"
#include "engine/state/key_index.h"
#include "engine/state/record_list.h"

namespace weir {
namespace {

Ref Put(RecordArena& arena, std::string_view bytes) {
  const Ref ref = arena.Allocate(1, bytes.size());
  std::copy(bytes.begin(), bytes.end(), arena.At(ref)->payload());
  return ref;
}

TEST(RecordArena, ReusesFreedRecordsOfTheSameSize) {
  RecordArena arena;
  const Ref a = Put(arena, "twelve bytes");
  const Ref b = Put(arena, std::string(5000, 'b'));
  arena.Free(a);
  arena.Free(b);
  EXPECT_EQ(arena.live_bytes(), 0);
  EXPECT_EQ(Put(arena, "twelve bytez"), a);
  EXPECT_EQ(Put(arena, std::string(4990, 'c')), b);
}

TEST(RecordArena, HoldsRecordsLargerThanAChunk) {
  RecordArena arena;
  const std::string large(9 << 20, 'x');
  const Ref before = Put(arena, "before");
  const Ref ref = Put(arena, large);
  const Ref after = Put(arena, "after");
  EXPECT_EQ(arena.At(ref)->bytes(), large);
  EXPECT_EQ(arena.At(before)->bytes(), "before");
  std::vector<Ref> seen;
  arena.Freeze()->ForEach([&](Ref at, const Record&) { seen.push_back(at); });
  EXPECT_EQ(seen, (std::vector<Ref>{before, ref, after}));
}

TEST(RecordArena, AViewStaysAsItWas) {
  RecordArena arena;
  std::mt19937_64 random(1);
  std::map<Ref, std::string> live;
  const auto change = [&] {
    for (int i = 0; i < 2000; ++i) {
      if (!live.empty() && random() % 3 == 0) {
        const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        arena.Free(victim->first);
        live.erase(victim);
      } else {
        const std::string bytes(random() % 2000, static_cast<char>('a' + random() % 26));
        live[Put(arena, bytes)] = bytes;
      }
    }
  };
  for (int round = 0; round < 5; ++round) {
    change();
    arena.Thaw();
    auto view = arena.Freeze();
    const std::map<Ref, std::string> expected = live;
    std::map<Ref, std::string> seen;
    std::thread reader([&] {
      view->ForEach([&](Ref ref, const Record& record) { seen[ref] = std::string(record.bytes()); });
      view->Finish();
    });
    change();
    arena.Thaw();
    change();
    reader.join();
    EXPECT_EQ(seen, expected);
    arena.Thaw();
    EXPECT_FALSE(arena.frozen());
  }
}

TEST(KeyIndex, IsAMap) {
  RecordArena arena;
  KeyIndex index(&arena, 0, KeyIndex::KeySize::kToEnd);
  std::unordered_map<std::string, Ref> model;
  std::mt19937_64 random(2);
  for (int i = 0; i < 50000; ++i) {
    const std::string key = std::to_string(random() % 3000);
    // A weak hash: long runs and equal halves.
    const uint64_t hash = (HashBytes(key) & 0xff00000000000000ULL) | (HashBytes(key) % 700);
    const Ref found = index.Find(hash, key);
    const auto known = model.find(key);
    ASSERT_EQ(found, known == model.end() ? 0 : known->second);
    if (found == 0) {
      index.Insert(hash, model[key] = Put(arena, key));
    } else if (random() % 2 == 0) {
      EXPECT_TRUE(index.Erase(hash, found));
      EXPECT_FALSE(index.Erase(hash, found));
      arena.Free(found);
      model.erase(key);
    }
    ASSERT_EQ(index.size(), model.size());
  }
}

TEST(RecordLists, AreMultisetsWhateverTheirLength) {
  RecordArena arena;
  RecordLists lists(
      &arena, true, [](const void*, const Record& record) -> size_t { return record.size; }, nullptr);
  ListHead list;
  std::multiset<std::string> model;
  std::mt19937_64 random(3);
  for (int i = 0; i < 30000; ++i) {
    const std::string row = std::to_string(1000 + random() % 500);
    const bool grow = (i / 3000) % 2 == 0;
    if (random() % 4 < (grow ? 3u : 1u)) {
      lists.Insert(list, Put(arena, row));
      model.insert(row);
      continue;
    }
    const Ref ref = lists.Remove(list, row);
    const auto known = model.find(row);
    ASSERT_EQ(ref != 0, known != model.end());
    if (ref == 0) continue;
    EXPECT_EQ(arena.At(ref)->bytes(), row);
    arena.Free(ref);
    model.erase(known);
    ASSERT_EQ(list.size(), model.size());
  }
  lists.RemoveIf(list, [](Ref) { return true; });
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(lists.bytes(), 0);
}

// --- snapshots
// -------------------------------------------------------------------------------------------------------------

class Files final : public SnapshotWriter, public SnapshotReader {
 public:
  Epoch epoch() const override { return 1; }
  void Put(std::string) override {}
  void WriteLater(std::function<Status(File&)> write) override { write_ = std::move(write); }
  void FinishLater(std::function<Status()>) override {}
  void PutCommitData(std::string) override {}
  const std::vector<Part>& parts() const override { return parts_; }
  Result<std::string> Read(const Part&) const override { return content; }

  Status Write() {
    struct StringFile final : File {
      explicit StringFile(std::string& to) : content(to) {}
      Status Append(std::string_view bytes) override {
        content += bytes;
        return {};
      }
      std::string& content;
    } file(content);
    return write_(file);
  }
  std::string content;

 private:
  std::function<Status(File&)> write_;
  std::vector<Part> parts_{{0, 1, "state/part-0", ""}};
};

std::map<std::string, uint32_t> Restored(const Files& files, Status* status = nullptr) {
  OperatorContext context;
  KeyedState state("test", {{"rows"}}, true, {});
  EXPECT_TRUE(state.Open(context));
  std::map<std::string, uint32_t> rows;
  const Status done =
      state.Restore(files, [&](const SnapshotReader::Part&, const SnapshotRecord& record, bool) -> Status {
        rows[std::string(record.payload)] = record.count;
        return {};
      });
  if (status != nullptr) {
    *status = done;
  } else {
    EXPECT_TRUE(done) << done.error().ToString();
  }
  return rows;
}

TEST(KeyedState, ASnapshotHasTheCountsOfItsBarrier) {
  OperatorContext context;
  KeyedState state("test", {{"rows"}}, true, {});
  ASSERT_TRUE(state.Open(context));
  std::map<std::string, uint32_t> expected;
  std::vector<Ref> refs;
  for (uint32_t i = 0; i < 30000; ++i) {
    const std::string row = "row " + std::to_string(i);
    const Ref ref = state.Allocate(1, row.size());
    std::copy(row.begin(), row.end(), state.At(ref)->payload());
    state.SetCount(ref, i % 7);
    expected[row] = i % 7;
    refs.push_back(ref);
  }
  Files files;
  state.Snapshot(files);
  std::thread writer([&] { EXPECT_TRUE(files.Write()); });
  for (uint32_t i = 0; i < 30000; ++i) state.SetCount(refs[i], i % 5 + 10);
  for (uint32_t i = 0; i < 30000; i += 3) state.Free(refs[i]);
  writer.join();
  EXPECT_EQ(Restored(files), expected);
}

TEST(KeyedState, DamagedFilesAreRefusedByName) {
  OperatorContext context;
  KeyedState state("test", {{"rows"}}, true, {});
  ASSERT_TRUE(state.Open(context));
  for (int i = 0; i < 1000; ++i) std::fill_n(state.At(state.Allocate(1, 50))->payload(), 50, static_cast<char>(i));
  Files files;
  state.Snapshot(files);
  ASSERT_TRUE(files.Write());
  const std::string good = files.content;
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    files.content = good;
    if (i % 2 == 0) {
      files.content.resize(random() % good.size());
    } else {
      // Behind the header, whose task number may be any.
      files.content[32 + random() % (good.size() - 32)] ^= static_cast<char>(1 << (random() % 8));
    }
    Status status;
    const auto rows = Restored(files, &status);
    if (status) continue;  // the block header's spare word
    EXPECT_EQ(status.error().code, ErrorCode::kState);
    EXPECT_EQ(status.error().where, "state/part-0");
  }
}

TEST(KeyedState, TheCapNamesTheOperator) {
  OperatorContext context;
  context.operator_id = "join-2";
  KeyedState state("test", {{"rows"}}, false, {.max_bytes = 1000, .ttl = 0});
  ASSERT_TRUE(state.Open(context));
  EXPECT_TRUE(state.BeginBatch(0, 0));
  state.Allocate(1, 2000);
  const Status status = state.BeginBatch(0, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kState);
  EXPECT_NE(status.error().message.find("join-2"), std::string::npos);
}

}  // namespace
}  // namespace weir
