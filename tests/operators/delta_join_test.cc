// The join with its rows in tables, and in state tables, against nested loops: random changes in several tasks, with
// checkpoints, folds, rows that leave memory, crashes and restores at another parallelism.  A failure names its seed.
#include <filesystem>

#include "tests/operators/join_model.h"
#include "tests/temporary_folder.h"
#include "tests/slow_build.h"

namespace weir {
namespace {

using testing::Input;
using testing::JoinModel;
using testing::Storage;

class DeltaJoinRandom : public ::testing::TestWithParam<std::tuple<JoinType, bool, Storage>> {
 protected:
  void Run(const JoinModel::Setting& setting, int size) {
    {
      JoinModel model(setting);
      for (int step = 0; step < (size == 1 ? 80 : 30); ++step) {
        model.Step(size);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
      folds_ += model.folds();
    }
    std::filesystem::remove_all(setting.folder);
  }
  const testing::TemporaryFolder folder_{testing::TemporaryFolder::Place::kMemory};
  int64_t folds_ = 0;
};

// WEIR_DELTA_RUNS=N: so many times the usual number of runs, with other seeds.
uint64_t Rounds() {
  const char* wanted = std::getenv("WEIR_DELTA_RUNS");
  return wanted == nullptr ? 1 : static_cast<uint64_t>(std::atoll(wanted));
}

TEST_P(DeltaJoinRandom, IsTheNestedLoopOfItsInputs) {
  const auto [type, condition, storage] = GetParam();
  const Input inputs[] = {Input::kAppend, Input::kMultiset, Input::kUniqueFull, Input::kUpsert};
  uint64_t run = 0;
  for (uint64_t round = 0; round < Rounds(); ++round) {
    for (const Input left : inputs) {
      for (const Input right : inputs) {
        const uint64_t seed = 1 + 1000 * round + run++;
        if (testing::kSlowBuild && run % 4 != 0) continue;
        const int64_t memory = std::array<int64_t, 3>{6 << 10, 20 << 10, 1 << 30}[seed % 3];
        const int size = std::array<int, 4>{1, 3, 40, 7}[seed % 4];
        SCOPED_TRACE("seed " + std::to_string(seed) + " left " + std::to_string(static_cast<int>(left)) + " right " +
                     std::to_string(static_cast<int>(right)) + " batch " + std::to_string(size) + " memory " +
                     std::to_string(memory));
        Run({type, left, right, condition, storage, memory, folder_ / std::to_string(seed), seed}, size);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
  // When folds come depends on threads: the few runs of a slow build may have had none.
  for (uint64_t seed = 1'000'000; storage == Storage::kTables && folds_ == 0 && seed < 1'000'016; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Run({type, Input::kAppend, Input::kUpsert, condition, storage, 6 << 10, folder_ / std::to_string(seed), seed}, 40);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  if (storage == Storage::kTables) {
    EXPECT_GT(folds_, 0);  // else the bases have not been tested
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DeltaJoinRandom,
                         ::testing::Combine(::testing::Values(JoinType::kInner, JoinType::kLeft, JoinType::kRight,
                                                              JoinType::kFull, JoinType::kSemi, JoinType::kAnti),
                                            ::testing::Bool(),
                                            ::testing::Values(Storage::kTables, Storage::kStateTables)));

}  // namespace
}  // namespace weir
