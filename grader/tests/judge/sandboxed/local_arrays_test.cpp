// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A checker rerun of kernels with several local arrays, by whichever compiler the submission is.
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

using compilers::DeviceCompiler;

/// Stage 1 of lab 01, right, by way of local arrays of which the middle one is indexed with
/// `index`.
std::string by_way_of_local_arrays(const std::string& index) {
  return R"(#include "kernel.cuh"
__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile int first[4], mine[4], last[4];
  mine[)" +
         index + R"(] = in[i];
  const int value = mine[)" +
         index + R"(];
  first[i % 4] = last[i % 4] = 1;
  out[n - 1 - i] = value + first[i % 4] - last[i % 4];
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}
)";
}

class LocalArrays : public Sandboxed, public testing::WithParamInterface<DeviceCompiler> {
 protected:
  course::StageResult check_with(const std::string& index, bool graded = false) {
    CheckRequest request =
        request_for("01-reverse-array", kernel_of(by_way_of_local_arrays(index)));
    request.stages = {1};
    request.reruns.at_right_results = true;
    request.compiler = compiler_;
    if (graded) {
      sandbox(request);
      request.graded.emplace().confined = false;
    }
    const course::Result result = run(request);
    EXPECT_EQ(result.stages.size(), 1U);
    return result.stages.empty() ? course::StageResult{} : result.stages[0];
  }
  void SetUp() override {
    Sandboxed::SetUp();
    const auto places = compilers::compiler_places(MEMBOUND_SOURCE_DIR);
    // clang lays out what is looked at, whoever has compiled what passed.
    const auto clang = compilers::find_compiler(DeviceCompiler::kClang, places);
    const auto own = compilers::find_compiler(GetParam(), places);
    if (!clang || !own) GTEST_SKIP() << "needs clang";
    compiler_ = *own;
  }
  compilers::CompilerInfo compiler_;
};

TEST_P(LocalArrays, AnIndexIntoTheNextOneIsUnsafe) {
  for (const char* const index : {"i % 5", "i % 4 - 1"}) {
    const course::StageResult stage = check_with(index);
    EXPECT_EQ(stage.verdict, course::Verdict::kUnsafe) << index;
    ASSERT_FALSE(stage.findings.empty()) << index;
    EXPECT_THAT(stage.findings[0].text, testing::HasSubstr("a local variable")) << index;
    EXPECT_EQ(stage.findings[0].line, 6) << index;
  }
}

TEST_P(LocalArrays, SoItIsWhereAClassIsGraded) {
  EXPECT_EQ(check_with("i % 5", true).verdict, course::Verdict::kUnsafe);
}

TEST_P(LocalArrays, RightOnesAreSilent) {
  for (const bool graded : {false, true}) {
    const course::StageResult stage = check_with("i % 4", graded);
    EXPECT_TRUE(stage.correct);
    EXPECT_NE(stage.verdict, course::Verdict::kUnsafe);
  }
}

INSTANTIATE_TEST_SUITE_P(EitherCompiler, LocalArrays,
                         testing::Values(DeviceCompiler::kNvcc, DeviceCompiler::kClang));

}  // namespace
}  // namespace membound::judge
