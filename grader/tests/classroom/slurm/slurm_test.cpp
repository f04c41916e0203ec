// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays on a real Slurm.
#include "grader/classroom/slurm/slurm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "grader/tests/classroom/slurm/cluster.hpp"

namespace membound::slurm {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

class Slurm : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (geteuid() == 0) cluster_ = std::make_unique<Cluster>();
  }
  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << "slurmd runs tasks as other users: only root can start it";
  }
  static void TearDownTestSuite() { cluster_.reset(); }

  /// Tasks that write their GPU's number into the file "<name>.<task>".
  static Array gpu_tasks(const std::string& name, std::vector<int> tasks) {
    Array array;
    array.name = name;
    array.folder = cluster_->folder();
    array.command = {"sh", "-c", "echo \"gpu $CUDA_VISIBLE_DEVICES\" >\"$0.$1\"",
                     (cluster_->folder() / name).string()};
    array.tasks = std::move(tasks);
    array.options = {"--gres=gpu:1"};
    return array;
  }

  static std::string submitted(const Array& array) {
    const auto job = submit(array);
    EXPECT_TRUE(job) << base::to_string(job.error());
    return job ? *job : "";
  }

  static std::string text_of(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(cluster_->folder() / name).rdbuf();
    return text.str();
  }

  static std::vector<Trouble> troubles(const std::string& job) {
    const auto snapshot = poll(job);
    return snapshot ? snapshot->troubles : std::vector<Trouble>{};
  }

  static std::unique_ptr<Cluster> cluster_;
};

std::unique_ptr<Cluster> Slurm::cluster_;

TEST_F(Slurm, RunsEachTaskOnceWithAGpuOfItsOwn) {
  const std::string job = submitted(gpu_tasks("each", {0, 1, 3}));
  ASSERT_TRUE(await([] {
    return !text_of("each.0").empty() && !text_of("each.1").empty() && !text_of("each.3").empty();
  }));
  EXPECT_THAT(text_of("each.0"), testing::MatchesRegex("gpu [01]\n"));
  EXPECT_EQ(text_of("each.2"), "");
  ASSERT_TRUE(await([&job] { return poll(job)->alive() == 0; }));
}

TEST_F(Slurm, TellsThatAJobIsHeldAndHowToFreeIt) {
  Array array = gpu_tasks("held", {0});
  array.options.push_back("--hold");
  const std::string job = submitted(array);
  ASSERT_TRUE(await([&job] { return !troubles(job).empty(); }));
  const std::string fix = troubles(job).front().fix;
  EXPECT_EQ(fix, "scontrol release " + job);
  EXPECT_EQ(Cluster::run(fix), 0);
  EXPECT_TRUE(await([] { return !text_of("held.0").empty(); }));
}

TEST_F(Slurm, TellsThatTheNodeIsDrainedAndHowToResumeIt) {
  ASSERT_EQ(Cluster::run("scontrol update NodeName=$(hostname -s) State=DRAIN Reason='a test'"), 0);
  const std::string job = submitted(gpu_tasks("drained", {0}));
  ASSERT_TRUE(await([&job] { return !troubles(job).empty(); }));
  const Trouble trouble = troubles(job).front();
  EXPECT_THAT(trouble.what, HasSubstr("a test"));
  EXPECT_EQ(Cluster::run(trouble.fix), 0);
  EXPECT_TRUE(await([] { return !text_of("drained.0").empty(); }));
}

/// Kills the controller while two tasks run and lets them end before the node has registered with
/// the one that came back, which then never frees what they had (seen with Slurm 22.05).
void leave_a_node_held(const Cluster& cluster, const Array& array) {
  const auto state = cluster.folder() / "state" / "job_state";
  const auto job = submit(array);
  ASSERT_TRUE(job) << base::to_string(job.error());
  const auto running = [&job] {
    const auto snapshot = poll(*job);
    if (!snapshot) return false;
    return std::all_of(snapshot->tasks.begin(), snapshot->tasks.end(),
                       [](const Task& task) { return task.state == "RUNNING"; });
  };
  ASSERT_TRUE(await(running));
  // A controller that did not write its jobs down would start them again.
  const auto seen = std::filesystem::file_time_type::clock::now();
  ASSERT_TRUE(await([&] { return std::filesystem::last_write_time(state) > seen; }));
  cluster.control("controller", "");
  ASSERT_TRUE(await([&job] { return static_cast<bool>(poll(*job)); }));
  std::ofstream(array.command.back()).flush();
  ASSERT_TRUE(await([&job] {
    const auto snapshot = poll(*job);
    return snapshot && snapshot->alive() == 0;
  }));
}

TEST_F(Slurm, TellsThatANodeIsHeldForNoJobAndHowToFreeIt) {
  std::string later, held;
  // The node may register first on a busy machine.
  for (int attempt = 0; attempt < 5 && held.empty(); ++attempt) {
    const std::string number = std::to_string(attempt);
    Array ending = gpu_tasks("ending" + number, {0, 1});
    ending.command = {"sh", "-c", "while [ ! -e \"$0\" ]; do sleep 0.05; done",
                      cluster_->folder() / ("gate" + number)};
    leave_a_node_held(*cluster_, ending);
    Array both = gpu_tasks("both" + number, {0});
    both.options = {"--gres=gpu:2"};
    later = submitted(both);
    ASSERT_TRUE(await([&] {
      const auto snapshot = poll(later);
      if (snapshot && !snapshot->forgotten.empty()) held = both.name + ".0";
      return !held.empty() || !text_of(both.name + ".0").empty();
    }));
  }
  ASSERT_NE(held, "");
  const Trouble trouble = poll(later)->forgotten.front();
  EXPECT_THAT(trouble.what, HasSubstr("gpu:fake"));
  EXPECT_EQ(Cluster::run(trouble.fix), 0);
  EXPECT_TRUE(await([&held] { return !text_of(held).empty(); }));
}

TEST_F(Slurm, CancelEndsTheTasks) {
  Array array = gpu_tasks("sleep", {0});
  array.command = {"sleep"};  // for as many seconds as the task's number
  array.tasks = {600};
  const std::string job = submitted(array);
  ASSERT_TRUE(await([&job] { return poll(job)->alive() == 1; }));
  cancel(job);
  EXPECT_TRUE(await([&job] { return poll(job)->alive() == 0; }));
}

TEST_F(Slurm, AJobThatIsNotKnownHasNoTasks) {
  const auto snapshot = poll("999999");
  ASSERT_TRUE(snapshot) << base::to_string(snapshot.error());
  EXPECT_EQ(snapshot->alive(), 0);
}

TEST_F(Slurm, AnArrayThatSlurmRefusesSaysWhy) {
  Array array = gpu_tasks("refused", {0});
  array.options = {"--gres=gpu:9"};
  const auto job = submit(array);
  ASSERT_FALSE(job);
  EXPECT_THAT(base::to_string(job.error()), HasSubstr("not available"));
}

}  // namespace
}  // namespace membound::slurm
