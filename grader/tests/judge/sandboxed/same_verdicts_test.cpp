// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run comes to the verdict that the student saw. References are timed; skeletons and
/// wrong answers are not, and of the wrong answers every twelfth is taken (MEMBOUND_SPLIT_EVERY
/// takes every n-th).
#include <algorithm>
#include <cstdlib>

#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class SameVerdicts : public Sandboxed, public testing::WithParamInterface<std::string> {
 protected:
  /// All stages, or one and the next, which tells that the run goes on.
  void compare(const fs::path& kernel, bool quick, int stage = 0) {
    CheckRequest request = request_for(GetParam(), kernel);
    if (stage != 0) request.stages = {stage, stage % static_cast<int>(lab_->stages.size()) + 1};
    if (quick) request.more_arguments = {"--quick"};
    const course::Result one = run(request);
    sandbox(request);
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
  const std::size_t every = wanted == nullptr ? 12 : std::max(1, std::atoi(wanted));
  const std::vector<fs::path> all = wrong_answers(GetParam());
  ASSERT_FALSE(all.empty());
  for (std::size_t i = 0; i < all.size(); i += every) {
    // A launch that never ends takes its whole timeout, twice; lost_runner_test has one.
    if (all[i].string().find("for-ever") != std::string::npos) continue;
    // The other stages are the reference answer's.
    compare(all[i], true, std::stoi(all[i].filename()));
  }
}

INSTANTIATE_TEST_SUITE_P(Labs, SameVerdicts,
                         testing::Values("01-reverse-array", "03-transpose", "04-reduction",
                                         "06-shortcut"),
                         [](const auto& lab) { return "Lab" + lab.param.substr(0, 2); });

/// A submission by lab, stage and name: "" is the reference, else a right and slow answer.
struct Graded {
  std::string lab;
  int stage;
  std::string name;
};

/// Timed by some blocks of launches at a GPU's size, as a student checks and as a class is graded.
class SameRatio : public Sandboxed, public testing::WithParamInterface<Graded> {};

TEST_P(SameRatio, IsPredictedWhereAStudentChecksAndWhereAClassIsGraded) {
  const auto& [lab, stage, name] = GetParam();
  const fs::path kernel =
      name.empty() ? source() / "solutions" / lab / "kernel.cu" : wrong_answer(lab, name);
  CheckRequest request = request_for(lab, kernel);
  request.stages = {stage};
  const course::Result checked = run(request);
  sandbox(request);
  const course::Result graded = run(request);
  ASSERT_EQ(checked.stages.size(), 1U);
  ASSERT_EQ(graded.stages.size(), 1U);
  const course::StageResult &a = checked.stages[0], &b = graded.stages[0];
  EXPECT_EQ(course::to_string(a.verdict), course::to_string(b.verdict));
  ASSERT_EQ(a.timings.size(), b.timings.size());
  for (std::size_t i = 0; i < a.timings.size(); ++i) {
    EXPECT_EQ(a.timings[i].label, b.timings[i].label);
    EXPECT_THAT(b.timings[i].stop_reason, testing::HasSubstr("of the blocks"));
    // Other inputs and other blocks: what these differ in is what a sample may be off by.
    EXPECT_NEAR(a.timings[i].ratio / b.timings[i].ratio, 1, 0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Labs, SameRatio,
    testing::Values(Graded{"00-hello-gpu", 2, ""}, Graded{"00-hello-gpu", 3, ""},
                    Graded{"02-coalescing", 2, ""}, Graded{"03-transpose", 1, ""},
                    Graded{"03-transpose", 6, "6-one-element-per-thread"},
                    Graded{"04-reduction", 3, ""}, Graded{"04-reduction", 5, "5-slow-one-warp"},
                    Graded{"04-reduction", 6, ""}, Graded{"05-bank-conflicts", 2, ""},
                    Graded{"06-shortcut", 1, ""}, Graded{"06-shortcut", 3, ""},
                    Graded{"06-shortcut", 6, ""},
                    Graded{"08-local-memory", 3, "3-a-table-after-the-other"},
                    Graded{"09-latency-hiding", 2, "2-loads-one-at-a-time"}),
    [](const auto& graded) {
      return "Lab" + graded.param.lab.substr(0, 2) + "Stage" + std::to_string(graded.param.stage);
    });

}  // namespace
}  // namespace membound::judge
