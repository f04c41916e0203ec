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
using testing::Contains;
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
  static void SetUpTestSuite() {
    if (geteuid() != 0) return;
    cluster_ = std::make_unique<slurm::Cluster>();
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);  // equal verdicts are then equal bytes
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << "slurmd runs tasks as other users: only root can start it";
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
    slurm.patience_seconds = 20;  // a node that registers anew takes some
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

TEST_F(SlurmExecutor, ATaskThatNeverWritesBecomesOurFailureWithAReason) {
  SlurmSettings broken = settings(0);
  broken.task_command = {"false"};
  const BatchSummary summary = grade(broken);
  ASSERT_FALSE(summary.grades.grades.empty());
  for (const course::Grade& grade : summary.grades.grades) {
    if (grade.verdict == course::GradeVerdict::kPolicyReject) continue;
    EXPECT_EQ(grade.verdict, course::GradeVerdict::kInfraError);
    EXPECT_TRUE(grade.withheld());
    EXPECT_THAT(grade.note, HasSubstr("tried 3 times on the cluster"));
  }
}

}  // namespace
}  // namespace membound::queue
