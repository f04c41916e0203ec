// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A sum is timed by some of its blocks where these left the sum of what they read, and all would
/// have read the whole input. Where the second cannot be said, all blocks run for their result;
/// where the first cannot, all blocks of a smaller launch tell, where a student checks as where a
/// class is graded.
#include "grader/base/files.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

constexpr int kTree = 3;

class SummedSample : public Sandboxed {
 protected:
  /// Stage 3's reference answer with other words instead of its element.
  void time_with(const std::string& element) {
    auto text = base::read_file(source() / "solutions" / "04-reduction" / "kernel.cu");
    ASSERT_TRUE(text);
    const std::string own = "element < n ? in[element] : 0.0f";
    const std::size_t at = text->find(own);
    ASSERT_NE(at, std::string::npos);
    CheckRequest request =
        request_for("04-reduction", kernel_of(text->replace(at, own.size(), element)));
    request.stages = {kTree};
    student_ = run(request);
    sandbox(request);
    graded_ = run(request);
  }

  /// Timed with so many floats, with this among what is said, and so many wrong runs.
  void expect_timed_at(const std::string& label, const std::string& why, int wrong = 0) const {
    for (const course::Result* result : {&student_, &graded_}) {
      ASSERT_EQ(result->stages.size(), 1U);
      const course::StageResult& stage = result->stages.front();
      ASSERT_EQ(stage.timings.size(), 1U);
      EXPECT_EQ(stage.timings.front().label, label);
      EXPECT_EQ(stage.timings.front().runs_wrong, wrong);
      EXPECT_THAT(stage.remarks,
                  why.empty() ? testing::Matcher<std::vector<std::string>>(testing::IsEmpty())
                              : testing::Contains(testing::HasSubstr(why)));
    }
  }

 private:
  course::Result student_, graded_;
};

TEST_F(SummedSample, StandsForAllWhereItsSumIsThatOfWhatItRead) {
  time_with("element < n ? in[element] : 0.0f");
  expect_timed_at("268435456 floats", "");
}

TEST_F(SummedSample, IsWrongWhereBlocksReadHalfOfTheInput) {
  time_with("element < n && (n < 1 << 24 || threadIdx.x < kThreads / 2) ? in[element] : 0.0f");
  expect_timed_at("268435456 floats", "", 1);
}

TEST_F(SummedSample, CallsNobodyWrongWhoseBlocksShareAPiece) {
  time_with(
      "n % 2048 == 0 ? in[element / 2048 * 2048 + threadIdx.x * 8 + blockIdx.x % 8]"
      " : element < n ? in[element] : 0.0f");
  expect_timed_at("4194304 floats", "is not what all that they read makes");
}

}  // namespace
}  // namespace membound::judge
