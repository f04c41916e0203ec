// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/slurm_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "grader/base/files.hpp"
#include "grader/classroom/queue/slurm_task.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Task 3 of job 12, and no Slurm.
class TaskWatchTest : public testing::Test {
 protected:
  TaskWatchTest() { settings_.heartbeat_timeout_seconds = settings_.start_timeout_seconds = 0.1; }

  std::string look(const std::string& state, const std::string& reason = "None") {
    slurm::Snapshot snapshot;
    if (!state.empty()) snapshot.tasks = {{3, state, reason, "n1"}};
    return watch_.look(snapshot, settings_);
  }
  static void wait() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }
  void say(const std::string& beat) const { EXPECT_TRUE(base::write_file(file_, beat)); }

  const base::ScratchFolder folder_{"watch"};
  const fs::path file_ = beat_file(folder_.path(), "12", 3);
  SlurmSettings settings_;
  TaskWatch watch_{"12", 3, file_};
};

TEST_F(TaskWatchTest, OneThatBeatsLives) {
  EXPECT_EQ(look("RUNNING"), "");
  for (int i = 0; i < 3; ++i) {
    wait();
    say(std::to_string(i) + " alive n1\n");
    EXPECT_EQ(look("RUNNING"), "");
  }
  EXPECT_FALSE(watch_.over());
}

TEST_F(TaskWatchTest, OneWhoseHeartbeatStandsStillIsDeadWhateverSlurmSays) {
  say("7 alive n1\n");
  EXPECT_EQ(look("RUNNING"), "");
  wait();
  EXPECT_THAT(look("RUNNING"), HasSubstr("task 3 of job 12 on n1 is RUNNING in Slurm's eyes"));
  EXPECT_TRUE(watch_.over());
}

TEST_F(TaskWatchTest, OneThatNeverBeatIsDeadToo) {
  EXPECT_EQ(look("RUNNING"), "");
  wait();
  EXPECT_NE(look("RUNNING"), "");
}

TEST_F(TaskWatchTest, OneThatWaitsMayWait) {
  EXPECT_EQ(look("PENDING", "Priority"), "");
  wait();
  EXPECT_EQ(look("PENDING", "Priority"), "");
  EXPECT_FALSE(watch_.over());
  EXPECT_EQ(watch_.waits_for(), "Priority");
  // Its time counts from its start.
  EXPECT_EQ(look("RUNNING"), "");
}

TEST_F(TaskWatchTest, OneThatEndedIsLookedAtTwiceSinceResultsMayBeUnderWay) {
  EXPECT_EQ(look("COMPLETED"), "");
  EXPECT_FALSE(watch_.over());
  EXPECT_EQ(look(""), "");
  EXPECT_TRUE(watch_.over());
}

TEST_F(TaskWatchTest, ItsOwnWordThatItEndedCountsBeforeSlurms) {
  say("9 failed n1 no GPU answers\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(look("RUNNING"), "");
  EXPECT_TRUE(watch_.over());
  EXPECT_EQ(watch_.failure(folder_.path(), "membound"), "no GPU answers");
}

TEST_F(TaskWatchTest, OneThatNoNodeCouldStartIsNotWaitedFor) {
  EXPECT_THAT(look("PENDING", "launch failed requeued held"), HasSubstr("could not be started"));
  EXPECT_TRUE(watch_.over());
}

TEST_F(TaskWatchTest, WhereItSaidNothingTheLastLineOfItsOutputIsTheReason) {
  EXPECT_TRUE(base::write_file(folder_.path() / "membound-3.log",
                               "loading\nmodule: cuda/99 is not here\n\n"));
  EXPECT_EQ(look("FAILED"), "");
  EXPECT_EQ(watch_.failure(folder_.path(), "membound"), "FAILED: module: cuda/99 is not here");
}

TEST(Heartbeats, GoOnUntilTheLastWord) {
  const base::ScratchFolder folder("beats");
  const fs::path file = folder.path() / "one";
  std::string first;
  {
    Heartbeat heart(file, 0.01);
    first = read_beat(file)->text;
    for (int i = 0; i < 500 && read_beat(file)->text == first; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(read_beat(file)->text, first);
    EXPECT_FALSE(read_beat(file)->ended);
    heart.end("no compiler\nand more");
    heart.end("too late");
  }
  EXPECT_TRUE(read_beat(file)->ended);
  EXPECT_EQ(read_beat(file)->reason, "no compiler");
  EXPECT_NE(read_beat(file)->node, "");
}

TEST(Heartbeats, OfATaskThatDidItsWorkHaveNoReason) {
  const base::ScratchFolder folder("beats");
  { Heartbeat(folder.path() / "one").end(""); }
  EXPECT_TRUE(read_beat(folder.path() / "one")->ended);
  EXPECT_EQ(read_beat(folder.path() / "one")->reason, "");
  EXPECT_FALSE(read_beat(folder.path() / "none"));
}

}  // namespace
}  // namespace membound::queue
