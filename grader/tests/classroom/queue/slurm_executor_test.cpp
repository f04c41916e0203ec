// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A class graded by a real Slurm on loopback, with the faults that clusters have. However they
/// fall, every verdict is in the ledger exactly once and equals that of a local batch.
#include "grader/classroom/queue/slurm_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>

#include "grader/tests/classroom/queue/fake_class.hpp"
#include "grader/tests/classroom/slurm/cluster.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kStudents = 12;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// One cluster for all cases; a class of its own for each.
class SlurmExecutor : public testing::Test {
 protected:
  static void SetUpTestSuite() { start("start"); }
  static void start(const std::string& kind) {
    if (geteuid() != 0) return;
    cluster_ = std::make_unique<slurm::Cluster>(kind);
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);  // equal verdicts are then equal bytes
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!cluster_)
      GTEST_SKIP() << "slurmd runs tasks as other users, and two nodes are in networks "
                      "of their own: only root can do either";
    folder_ = cluster_->folder() / testing::UnitTest::GetInstance()->current_test_info()->name();
    make_fake_class(folder_, kStudents);
    course_ = fake_course(folder_);
    out_ = folder_ / "out";
  }

  SlurmSettings settings(double seconds_per_job, bool daemon = false) {
    SlurmSettings slurm;
    slurm.task_command = {MEMBOUND_FAKE_TASK, folder_.string(), out_.string(),
                          std::to_string(seconds_per_job)};
    if (daemon) slurm.task_command.emplace_back("--daemon");
    slurm.options = {"--gres=gpu:1"};
    slurm.chunk = 3;
    slurm.minutes_per_task = 5;
    slurm.poll_seconds = 0.1;
    slurm.queue_seconds = 0.5;
    slurm.forgotten_seconds = 1;
    slurm.heartbeat_timeout_seconds = 5;
    slurm.start_timeout_seconds = 20;
    slurm.environment = {{"MEMBOUND_ROOT", folder_.string()}, {"SOURCE_DATE_EPOCH", "1700000000"}};
    slurm.call = "the same call";
    slurm.report_trouble = [this](const std::string& text) {
      const std::lock_guard guard(mutex_);
      said_ += text + "\n";
    };
    return slurm;
  }

  BatchSummary grade(const SlurmSettings& slurm) {
    BatchRequest request = fake_batch(folder_, course_, out_);
    request.stop = &stop_;
    request.executor = [&](const Work& work, const std::vector<const Job*>& queue) {
      return run_slurm(work, queue, out_, slurm);
    };
    auto summary = run_batch(request);
    EXPECT_TRUE(summary) << base::to_string(summary.error());
    return summary ? *std::move(summary) : BatchSummary{};
  }

  /// Runs the batch beside a fault that is injected once two results are there.
  void grade_with(const std::function<void()>& fault, double seconds_per_job = 0.5) {
    std::thread other([&] {
      EXPECT_TRUE(slurm::await([this] { return results() >= 2; }));
      fault();
    });
    std::atomic<bool> over = false;
    // Does what the messages say, and restarts the node's daemon when nothing moves all the same.
    std::thread instructor([&] {
      using Clock = std::chrono::steady_clock;
      std::size_t seen = 0, obeyed = 0;
      for (auto moved = Clock::now(); !over;) {
        {
          const std::lock_guard guard(mutex_);
          if (said_.find("State=RESUME") != std::string::npos) resume_node();
          // Not again for what was said before: it makes the controller read everything anew.
          if (const auto at = said_.rfind("scontrol reconfigure");
              at != std::string::npos && at >= obeyed) {
            slurm::Cluster::run("scontrol reconfigure");
            obeyed = said_.size();
          }
        }
        const std::size_t now = results();
        if (now != seen) moved = Clock::now();
        seen = now;
        if (Clock::now() - moved > std::chrono::seconds(4)) {
          cluster_->control("node", "");
          moved = Clock::now();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
      }
    });
    grade(settings(seconds_per_job));
    over = true;
    instructor.join();
    other.join();
  }

  [[nodiscard]] std::size_t results() const {
    std::error_code error;
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(out_ / "results", error))
      count += entry.path().extension() == ".json" ? 1U : 0U;
    return count;
  }

  /// Every verdict once in the chain, and the table of an undisturbed local batch.
  void expect_delivered_once() {
    const auto found = ledger::verify(out_);
    ASSERT_TRUE(found) << base::to_string(found.error());
    EXPECT_THAT(found->problems, IsEmpty());
    EXPECT_EQ(static_cast<std::size_t>(found->verdicts), results());
    const fs::path local = folder_ / "local";
    ASSERT_TRUE(run_batch(fake_batch(folder_, course_, local)));
    EXPECT_EQ(content(out_ / "grades.csv"), content(local / "grades.csv"));
  }

  /// After a death Slurm may have drained the node; the next case needs it.
  static void resume_node() {
    slurm::Cluster::run("scontrol update NodeName=$(hostname -s) State=RESUME >/dev/null 2>&1");
  }

  static std::unique_ptr<slurm::Cluster> cluster_;
  fs::path folder_, out_;
  course::Course course_;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::string said_;
};

std::unique_ptr<slurm::Cluster> SlurmExecutor::cluster_;

TEST_F(SlurmExecutor, GradesAClass) {
  grade(settings(0));
  expect_delivered_once();
  EXPECT_EQ(said_, "");
}

TEST_F(SlurmExecutor, SubmitsOnlyWhatIsMissing) {
  stop_ = true;  // Ctrl-C before the first task
  EXPECT_TRUE(grade(settings(0)).stopped);
  stop_ = false;
  grade(settings(0));
  const std::string starts = content(out_ / "starts");
  EXPECT_EQ(grade(settings(0)).graded, 0);
  EXPECT_EQ(content(out_ / "starts"), starts);
  expect_delivered_once();
}

TEST_F(SlurmExecutor, SurvivesTheControllersDeathWhileTasksRun) {
  grade_with([] { cluster_->control("controller", ""); });
  resume_node();
  expect_delivered_once();
}

TEST_F(SlurmExecutor, SurvivesAControllerThatStaysAwayForAWhile) {
  grade_with([] {
    slurm::Cluster::run("kill -9 $(cat '" + (cluster_->folder() / "run/slurmctld.pid").string() +
                        "')");
    std::this_thread::sleep_for(std::chrono::seconds(3));
    cluster_->control("controller", "");
  });
  resume_node();
  expect_delivered_once();
}

TEST_F(SlurmExecutor, SurvivesTheNodeDaemonsDeath) {
  grade_with([] { cluster_->control("node", ""); });
  resume_node();
  expect_delivered_once();
}

TEST_F(SlurmExecutor, SurvivesTheDeathOfATasksSupervisor) {
  grade_with([] { slurm::Cluster::run("pkill -9 -o slurmstepd"); });
  resume_node();
  expect_delivered_once();
}

TEST_F(SlurmExecutor, WaitsForNoProcessThatATaskLeftBehind) {
  grade(settings(0, true));
  expect_delivered_once();
}

TEST_F(SlurmExecutor, TellsHowToFreeADrainedNodeAndGoesOnThen) {
  slurm::Cluster::run("scontrol update NodeName=$(hostname -s) State=DRAIN Reason='a test'");
  std::thread instructor([this] {
    EXPECT_TRUE(slurm::await([this] {
      const std::lock_guard guard(mutex_);
      return said_.find("State=RESUME") != std::string::npos;
    }));
    resume_node();
  });
  grade(settings(0));
  instructor.join();
  EXPECT_THAT(said_, HasSubstr("a test"));
  expect_delivered_once();
}

TEST_F(SlurmExecutor, TasksGetTheirEnvironmentWhateverTheSiteHandsOn) {
  SlurmSettings none = settings(0);
  none.options.emplace_back("--export=NONE");
  grade(none);
  expect_delivered_once();
}

TEST_F(SlurmExecutor, ATaskWithoutASignOfLifeIsSubmittedAgain) {
  SlurmSettings ghosts = settings(0);
  const std::string marker = (folder_ / "was-here").string();
  // The first task says nothing any more, and Slurm goes on calling it running.
  ghosts.prolog = {"[ \"$SLURM_ARRAY_TASK_ID\" != 0 ] || [ -e '" + marker + "' ] || { touch '" +
                   marker + "'; exec sleep 1000; }"};
  ghosts.start_timeout_seconds = 3;
  grade(ghosts);
  expect_delivered_once();
  EXPECT_THAT(said_, HasSubstr("has given no sign of life for"));
  EXPECT_THAT(said_, HasSubstr("task 0 of job"));
}

TEST_F(SlurmExecutor, ThreeTasksThatCannotStartStopTheBatchWithTheirReason) {
  SlurmSettings broken = settings(0);
  broken.prolog = {"echo 'ml: cuda/99 is not installed' >&2; exit 1"};
  BatchRequest request = fake_batch(folder_, course_, out_);
  request.executor = [&](const Work& work, const std::vector<const Job*>& queue) {
    return run_slurm(work, queue, out_, broken);
  };
  const auto summary = run_batch(request);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().found, HasSubstr("cuda/99 is not installed"));
  EXPECT_THAT(summary.error().advice, HasSubstr("the same call"));
  // Mended, it goes on.
  grade(settings(0));
  expect_delivered_once();
}

TEST_F(SlurmExecutor, ThreeTasksThatTellTheSitesReasonStopTheBatchWithIt) {
  SlurmSettings lost = settings(0);
  lost.environment.clear();
  lost.options.emplace_back("--export=NONE");
  BatchRequest request = fake_batch(folder_, course_, out_);
  request.executor = [&](const Work& work, const std::vector<const Job*>& queue) {
    return run_slurm(work, queue, out_, lost);
  };
  const auto summary = run_batch(request);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().found, HasSubstr("MEMBOUND_ROOT is not set here"));
}

TEST_F(SlurmExecutor, WhatWaitsSaysWhyBeforeLong) {
  slurm::Cluster::run("scontrol update PartitionName=grade State=DOWN");
  SlurmSettings quiet = settings(0);
  quiet.quiet_seconds = 1;
  std::thread instructor([this] {
    EXPECT_TRUE(slurm::await([this] {
      const std::lock_guard guard(mutex_);
      return said_.find("wait (") != std::string::npos;
    }));
    slurm::Cluster::run("scontrol update PartitionName=grade State=UP");
  });
  grade(quiet);
  instructor.join();
  EXPECT_THAT(said_, HasSubstr("no result for 1 s"));
  EXPECT_THAT(said_, HasSubstr("PartitionDown"));
  EXPECT_THAT(said_, HasSubstr("sinfo -o '%P %a'"));
  expect_delivered_once();
}

/// Two nodes with a network of their own each, and a folder that they share.
class TwoNodes : public SlurmExecutor {
 protected:
  static void SetUpTestSuite() {
    // Some containers have no networks to give away.
    if (slurm::Cluster::run("{ ip link add mb-probe type bridge && ip link del mb-probe; } "
                            ">/dev/null 2>&1") == 0)
      start("two");
  }
};

TEST_F(TwoNodes, GradeAClassTogether) {
  grade(settings(0.3));
  expect_delivered_once();
  EXPECT_EQ(said_, "");
}

TEST_F(TwoNodes, WhatWasOnANodeThatDiedIsGradedOnTheOther) {
  // A task is at work there when the node dies, however slow this machine is.
  SlurmSettings slurm = settings(0);
  slurm.task_command.insert(slurm.task_command.end(), {"--endless-on", "n2"});
  std::thread power_cut([&] {
    EXPECT_TRUE(slurm::await([this] { return fs::exists(out_ / "endless"); }));
    cluster_->control("kill-node", "n2");
  });
  grade(slurm);
  power_cut.join();
  expect_delivered_once();
  // Slurm may have noticed the dead node by now, and calls its tasks COMPLETING then.
  EXPECT_THAT(said_,
              ContainsRegex("on n2 is [A-Z_]+ in Slurm.s eyes and has given no sign of life"));
}

TEST_F(TwoNodes, APartitionThatIsNotThereIsRefusedWithAdvice) {
  SlurmSettings wrong = settings(0);
  wrong.options.emplace_back("--partition=gpus");
  BatchRequest request = fake_batch(folder_, course_, out_);
  request.executor = [&](const Work& work, const std::vector<const Job*>& queue) {
    return run_slurm(work, queue, out_, wrong);
  };
  const auto summary = run_batch(request);
  ASSERT_FALSE(summary);
  EXPECT_THAT(base::to_string(summary.error()), HasSubstr("sinfo -o %P"));
}

}  // namespace
}  // namespace membound::queue
