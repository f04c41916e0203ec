// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run comes to the verdict that the student saw. References are timed; skeletons and
/// wrong answers are not, and of the wrong answers every eighth is taken (MEMBOUND_SPLIT_EVERY
/// takes every n-th).
#include <algorithm>
#include <cstdlib>

#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/split/split_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class SameVerdicts : public Split, public testing::WithParamInterface<std::string> {
 protected:
  void compare(const fs::path& kernel, bool quick) {
    CheckRequest request = request_for(GetParam(), kernel);
    if (quick) request.more_arguments = {"--quick"};
    const course::Result one = run(request);
    split(request);
    const course::Result three = run(request);
    ASSERT_EQ(one.stages.size(), three.stages.size()) << kernel;
    for (std::size_t i = 0; i < one.stages.size(); ++i) {
      const course::StageResult &a = one.stages[i], &b = three.stages[i];
      EXPECT_EQ(course::to_string(a.verdict), course::to_string(b.verdict))
          << kernel << ", stage " << a.stage << "\n"
          << (b.findings.empty() ? "" : b.findings.front().text);
      EXPECT_EQ(failed_test(a), failed_test(b)) << kernel << ", stage " << a.stage;
      EXPECT_EQ(a.points, b.points) << kernel << ", stage " << a.stage;
      EXPECT_EQ(a.ratio.has_value(), b.ratio.has_value());
      EXPECT_NEAR(a.ratio.value_or(0), b.ratio.value_or(0), 0.01);
    }
  }
};

TEST_P(SameVerdicts, OnTheReference) {
  compare(source() / "solutions" / GetParam() / "kernel.cu", false);
}

TEST_P(SameVerdicts, OnTheSkeleton) { compare(source() / "labs" / GetParam() / "kernel.cu", true); }

TEST_P(SameVerdicts, OnWrongAnswers) {
  const char* wanted = std::getenv("MEMBOUND_SPLIT_EVERY");
  const std::size_t every = wanted == nullptr ? 8 : std::max(1, std::atoi(wanted));
  const std::vector<fs::path> all = wrong_answers(GetParam());
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); i += every) {
    // A launch that never ends takes its whole timeout, twice; lost_runner_test has one.
    if (all[i].string().find("for-ever") != std::string::npos) continue;
    compare(all[i], true);
  }
}

INSTANTIATE_TEST_SUITE_P(Labs, SameVerdicts,
                         testing::Values("01-reverse-array", "03-transpose", "04-reduction",
                                         "06-shortcut"),
                         [](const auto& lab) { return "Lab" + lab.param.substr(0, 2); });

/// An answer that is right and slow, by lab and name; its name begins with its stage.
using SlowAnswer = std::pair<std::string, std::string>;

class SameOnASlice : public Split, public testing::WithParamInterface<SlowAnswer> {};

TEST_P(SameOnASlice, ASlowAnswerHasTheRatioOfTheWhole) {
  const auto& [lab, name] = GetParam();
  CheckRequest request = request_for(lab, wrong_answer(lab, name));
  request.stages = {name[0] - '0'};
  // At the size that is run whole, which the slice is one of.
  std::string size;
  for (const std::int64_t extent : lab_->stage(request.stages[0])->vgpu_sizes.back())
    size += (size.empty() ? "" : "x") + std::to_string(extent);
  request.more_arguments = {"--size", size};
  const course::Result whole = run(request);
  request.more_arguments.clear();
  ASSERT_TRUE(lab_->graded_slice);
  use_slice(*lab_->graded_slice, request);
  const course::Result slice = run(request);
  ASSERT_EQ(whole.stages.size(), 1U);
  ASSERT_EQ(slice.stages.size(), 1U);
  EXPECT_EQ(course::to_string(slice.stages[0].verdict), course::to_string(whole.stages[0].verdict));
  EXPECT_NEAR(slice.stages[0].ratio.value_or(0), whole.stages[0].ratio.value_or(9), 0.001);
}

INSTANTIATE_TEST_SUITE_P(Labs, SameOnASlice,
                         testing::Values(SlowAnswer("01-reverse-array", "3-one-int-per-thread"),
                                         SlowAnswer("03-transpose", "2-wide-blocks"),
                                         SlowAnswer("03-transpose", "4-padded-the-wrong-side"),
                                         SlowAnswer("03-transpose", "6-one-element-per-thread")),
                         [](const auto& slow) {
                           return "Lab" + slow.param.first.substr(0, 2) + "Stage" +
                                  slow.param.second[0];
                         });

}  // namespace
}  // namespace membound::judge
