// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/checker_rerun.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

using testing::ElementsAre;

class EarlyRerunTest : public testing::Test {
 protected:
  EarlyRerunTest() {
    lab_.id = "04-x";
    lab_.stages.resize(1);
    lab_.stages[0].number = 3;
    lab_.stages[0].kernel = "reduce_tree";
    run_.lab = &lab_;
    run_.stages = {3};
    run_.scratch_folder = folder_.path() / "tmp";
  }

  [[nodiscard]] bool begins() const {
    return EarlyRerun::begin(run_, {.at_right_results = true}, *device_.kind) != nullptr;
  }

  /// The number that the program has written, once it has.
  [[nodiscard]] pid_t started() const {
    while (true) {
      const auto text = base::read_file(folder_.path() / "pid");
      if (text && text->ends_with('\n')) return std::stoi(*text);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void have_it_run_for_ever() {
    run_.program = folder_.script(
        "test", "echo $$ > " + (folder_.path() / "pid").string() + "\nexec sleep 1000");
  }

  TemporaryFolder folder_;
  course::Lab lab_;
  Device device_ = virtual_gpu("h200", folder_.path());
  RunRequest run_;
};

TEST_F(EarlyRerunTest, RunsAsTheLaterOneWouldWithTestsThatTheProgramChooses) {
  run_.more_arguments = {"--size", "64x64"};
  const RunRequest early = rerun_before_results(run_);
  EXPECT_THAT(early.more_arguments,
              ElementsAre("--size", "64x64", "--look", "--some-blocks", "--easier-half"));
  course::StageMeasurement right;
  right.stage = 3;
  const RunRequest late = rerun_at_right_results(run_, {&right});
  EXPECT_EQ(early.environment, late.environment);
  EXPECT_EQ(early.stages, late.stages);
  EXPECT_EQ(early.seconds_per_stage, late.seconds_per_stage);
}

TEST_F(EarlyRerunTest, IsTakenWhereOneStageIsCheckedOnTheVirtualGpu) {
  if (base::processors() < 2) GTEST_SKIP() << "a processor is needed beside the run's";
  run_.program = folder_.script("test", "exit 0");
  EXPECT_TRUE(begins());
  const RunRequest one = run_;
  run_.stages = {3, 4};
  EXPECT_FALSE(begins()) << "two stages fill the processors";
  run_ = one;
  run_.more_arguments = {"--gtest_filter=*.SumsOneBlock"};
  EXPECT_FALSE(begins()) << "the later look knows which tests ran";
  run_ = one;
  run_.sandbox.emplace();
  EXPECT_FALSE(begins()) << "graded side by side";
  run_ = one;
  run_.backend = &program_backend();
  EXPECT_FALSE(begins()) << "checkers look on at once";
  run_ = one;
  device_ = real_gpu();
  EXPECT_FALSE(begins()) << "a GPU is timed meanwhile";
}

TEST_F(EarlyRerunTest, HandsOverWhatWasFound) {
  run_.program = folder_.script(
      "test", R"(while [ $# -gt 0 ]; do case $1 in --result) result=$2;; esac; shift; done
echo '{"lab":"04-x","stage":3,"abort":"","checks":[{"kind":"data race","line":8}]}' >> $result)");
  course::StageMeasurement right;
  right.stage = 3;
  right.kernel = "reduce_tree";
  right.tests.resize(1);
  right.tests[0].name = "SumsOneBlock";
  right.tests[0].passed = true;
  std::vector<course::StageMeasurement> measurements = {right};
  EarlyRerun early(rerun_before_results(run_));
  run_.program = folder_.path() / "nothing runs once more";
  rerun_with_checkers(run_, {.at_right_results = true}, measurements, &early);
  EXPECT_EQ(measurements[0].checks.size(), 1u);
}

TEST_F(EarlyRerunTest, EndsWithTheProgramWhereNobodyTakesIt) {
  have_it_run_for_ever();
  auto early = std::make_unique<EarlyRerun>(rerun_before_results(run_));
  const pid_t program = started();
  EXPECT_EQ(kill(program, 0), 0);
  early.reset();
  EXPECT_NE(kill(program, 0), 0);
}

TEST_F(EarlyRerunTest, EndsOnCtrlC) {
  have_it_run_for_ever();
  EarlyRerun early(rerun_before_results(run_));
  const pid_t program = started();
  std::atomic<bool> stop{true};
  run_.stop = &stop;
  int ticks = 0;
  run_.on_tick = [&](int stage) { ticks += stage == 3; };
  const auto outcome = early.take(run_);
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->stopped);
  EXPECT_GT(ticks, 0) << "who waits is told";
  EXPECT_NE(kill(program, 0), 0);
}

}  // namespace
}  // namespace membound::judge
