// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/base/files.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class GradeCluster : public testing::Test {
 protected:
  GradeCluster() {
    context_.course.root = folder_.path();
    settings_.device = judge::real_gpu();
    options_.file = (folder_.path() / "cluster.yml").string();
    site("partition: gpu\ngres: gpu:1\nminutes: 30\nat_once: 4\nchunk: 8\nstart_seconds: 300\n");
  }
  void site(const std::string& text) const { EXPECT_TRUE(base::write_file(options_.file, text)); }
  base::Result<queue::SlurmSettings> read() {
    return slurm_settings(options_, {"out", "", false}, settings_, context_);
  }

  const base::ScratchFolder folder_{"cluster"};
  Context context_;
  queue::Settings settings_;
  ClusterOptions options_;
};

TEST_F(GradeCluster, TakesWhatTheSitesFileSays) {
  const auto slurm = read();
  ASSERT_TRUE(slurm) << base::to_string(slurm.error());
  EXPECT_THAT(slurm->options, ElementsAre("--partition=gpu", "--gres=gpu:1"));
  EXPECT_EQ(slurm->minutes_per_task, 30);
  EXPECT_EQ(slurm->at_once, 4);
  EXPECT_EQ(slurm->chunk, 8U);
  EXPECT_EQ(slurm->start_timeout_seconds, 300);
  EXPECT_THAT(slurm->task_command, Contains("--device=gpu"));
  EXPECT_EQ(slurm->environment.at("MEMBOUND_ROOT"), folder_.path().string());
}

TEST_F(GradeCluster, OptionsOfTheCallGoBeforeTheFile) {
  options_.options = {"--partition=short"};
  options_.minutes = 5;
  const auto slurm = read();
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->options.back(), "--partition=short");
  EXPECT_EQ(slurm->minutes_per_task, 5);
}

TEST_F(GradeCluster, AGpuForAVirtualDeviceIsRefusedWhereverItIsAskedFor) {
  settings_.device = judge::virtual_gpu("h200", folder_.path());
  const auto from_file = read();
  ASSERT_FALSE(from_file);
  EXPECT_THAT(from_file.error().found, HasSubstr("vgpu:h200"));
  EXPECT_THAT(from_file.error().advice, HasSubstr("--device gpu"));
  site("partition: cpu\n");
  EXPECT_TRUE(read());
  options_.options = {"--gpus=1"};
  EXPECT_FALSE(read());
}

TEST_F(GradeCluster, TheCallToRepeatIsTheOneThatWasGiven) {
  const auto call = [](std::initializer_list<std::string> words) {
    std::string line;
    for (const std::string& word : words) line += word + '\0';
    return call_to_repeat(line);
  };
  EXPECT_EQ(call({"membound", "grade", "a b.zip", "--out", "o", "--executor", "slurm", "--cluster",
                  "it's.yml"}),
            "membound grade 'a b.zip' --out o --executor slurm --cluster 'it'\\''s.yml'");
  // What was to be graded again is queued by now: once more would be too often.
  EXPECT_EQ(call({"membound", "grade", "--regrade", "all", "--out", "o"}),
            "membound grade --resume --out o");
}

TEST(LoginNode, NeedsNoGpuToSubmitForTheNodes) {
  judge::CheckOptions options;
  options.device = "gpu";
  options.gpu_is_elsewhere = true;
  const auto tools = judge::choose_tools({}, options);
  // Without nvcc there is another problem, and it is no GPU's.
  if (tools)
    EXPECT_EQ(tools->device.name, "gpu");
  else
    EXPECT_THAT(base::to_string(tools.error()), testing::Not(HasSubstr("no GPU answers")));
  options.device = "gpu:0";
  const auto named = judge::choose_tools({}, options);
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().found, HasSubstr("names GPUs of this machine"));
}

}  // namespace
}  // namespace membound::cli
