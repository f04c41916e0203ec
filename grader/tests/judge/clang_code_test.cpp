// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What clang makes of kernels with our header and our steps: the PTX that nvcc would make where it
/// matters to results and to counters.
#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/judge/compile.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class ClangCode : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path root = MEMBOUND_SOURCE_DIR;
    auto clang = compilers::find_compiler(compilers::DeviceCompiler::kClang,
                                          compilers::compiler_places(root));
    if (!clang) GTEST_SKIP() << base::to_string(clang.error());
    request_.compiler = *std::move(clang);
    request_.root = root;
    request_.lab_folder = root / "labs/03-transpose";
    request_.cache_folder = folder_.path() / "cache";
  }
  CompiledCode compiled(const std::string& text) {
    request_.source = folder_.write("kernel.cu", text);
    const auto code = compile(request_);
    EXPECT_TRUE(code) << base::to_string(code.error());
    return code ? *code : CompiledCode{};
  }
  std::string ptx_of(const std::string& text) {
    const CompiledCode code = compiled(text);
    EXPECT_TRUE(code.compiled) << code.output;
    const auto ptx = base::read_file(code.file);
    return ptx ? *ptx : "";
  }
  TemporaryFolder folder_;
  CompileRequest request_;
};

TEST_F(ClangCode, ASharedVariableIsLoadedBehindTheBarrier) {
  const std::string ptx = ptx_of(R"(
    __device__ unsigned finished;
    __global__ void k(int* out) {
      __shared__ bool last;
      if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
      __syncthreads();
      if (last) out[threadIdx.x] = 1;
    })");
  const auto barrier = ptx.find("bar.sync");
  ASSERT_NE(barrier, std::string::npos);
  EXPECT_EQ(ptx.substr(0, barrier).find("ld.shared"), std::string::npos) << ptx;
  EXPECT_THAT(ptx.substr(barrier), HasSubstr("ld.shared"));
}

TEST_F(ClangCode, ASharedVariableIsLoadedBehindAVotingBarrier) {
  const std::string ptx = ptx_of(R"(
    __global__ void k(int* out, int p) {
      __shared__ int number;
      if (threadIdx.x == 0) number = out[7];
      const int votes = __syncthreads_count(p);
      out[threadIdx.x] = votes + number;
    })");
  const auto barrier = ptx.find("bar.red.popc");
  ASSERT_NE(barrier, std::string::npos);
  EXPECT_EQ(ptx.substr(0, barrier).find("ld.shared"), std::string::npos) << ptx;
}

TEST_F(ClangCode, ACopyOf16BytesIsOneAccess) {
  const std::string ptx = ptx_of(
      "__global__ void k(float4* out, const float4* in) {\n"
      "  out[threadIdx.x] = in[threadIdx.x + 1];\n"
      "}\n");
  EXPECT_THAT(ptx, HasSubstr("ld.global.v4"));
  EXPECT_THAT(ptx, HasSubstr("st.global.v4"));
  EXPECT_THAT(ptx, Not(HasSubstr("ld.global.u64")));
}

TEST_F(ClangCode, ACopyOfAStructOf32BytesIsTwoAccesses) {
  const std::string ptx = ptx_of(
      "struct alignas(16) Eight { float member[8]; };\n"
      "__global__ void k(Eight* out, const Eight* in) {\n"
      "  __shared__ Eight kept[32];\n"
      "  kept[threadIdx.x] = in[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  out[threadIdx.x] = kept[threadIdx.x ^ 1];\n"
      "}\n");
  for (const char* access : {"ld.global.v4", "st.shared.v4", "ld.shared.v4", "st.global.v4"}) {
    const auto first = ptx.find(access);
    ASSERT_NE(first, std::string::npos) << access << "\n" << ptx;
    EXPECT_NE(ptx.find(access, first + 1), std::string::npos) << access;
  }
}

TEST_F(ClangCode, ACopyWithoutAlignmentStaysNarrow) {
  const std::string ptx = ptx_of(
      "struct Pair { double a, b; };\n"
      "__global__ void k(Pair* out, const Pair* in) {\n"
      "  out[threadIdx.x] = in[threadIdx.x + 1];\n"
      "}\n");
  EXPECT_THAT(ptx, Not(HasSubstr(".v4")));
}

TEST_F(ClangCode, AnAccessKeepsTheLineOfTheStudent) {
  const std::string ptx = ptx_of(
      "__global__ void k(float4* out, const float4* in) {\n"
      "  out[threadIdx.x] = in[threadIdx.x + 1];\n"
      "}\n");
  const auto store = ptx.find("st.global.v4");
  ASSERT_NE(store, std::string::npos);
  const auto line = ptx.rfind(".loc", store);
  ASSERT_NE(line, std::string::npos);
  EXPECT_THAT(ptx.substr(line, 20), HasSubstr(" 2 "));
}

TEST_F(ClangCode, AnErrorIsShownAndNothingIsKept) {
  const CompiledCode code = compiled("__global__ void k() { nowhere(); }\n");
  EXPECT_FALSE(code.compiled);
  EXPECT_THAT(code.output, HasSubstr("kernel.cu:1:23: error:"));
  EXPECT_TRUE(fs::is_empty(request_.cache_folder));
}

/// A kernel.cu that somebody began with an earlier release, with either compiler.
class EarlierLaunches : public ClangCode,
                        public testing::WithParamInterface<compilers::DeviceCompiler> {
 protected:
  void SetUp() override {
    ClangCode::SetUp();
    if (IsSkipped()) return;
    auto compiler =
        compilers::find_compiler(GetParam(), compilers::compiler_places(MEMBOUND_SOURCE_DIR));
    if (!compiler) GTEST_SKIP() << base::to_string(compiler.error());
    request_.compiler = *std::move(compiler);
    request_.architecture = "90";
  }
};

TEST_P(EarlierLaunches, AreTakenAsTheyWere) {
  const CompiledCode code = compiled(R"(
    #include "kernel.cuh"
    using membound::LaunchPlan;
    using membound::LaunchShape;
    __global__ void copy(int* out, const int* in, long long n) {
      const long long i = before_this_block(256) + threadIdx.x;
      if (i < n) out[i] = in[i];
    }
    LAUNCH_SHAPE(copy, long long n) {
      LaunchShape shape;
      shape.block = 256;
      shape.grid = {ceil_div(n, 256), 1};
      return shape;
    }
    __global__ void sum(int* out, const int* in, long long n, void* scratch) {}
    LAUNCH_PLAN(sums, long long n) {
      LaunchPlan plan = plan_with_scratch(4 * n);
      plan.then("sum", {.grid = gpu.sm_count, .block = {32, 8}});
      return plan;
    })");
  EXPECT_TRUE(code.compiled) << code.output;
  EXPECT_THAT(code.output, Not(HasSubstr("warning")));
}

TEST_P(EarlierLaunches, AreNotWhatTodaysAreTakenFor) {
  const CompiledCode code = compiled(R"(
    #include "kernel.cuh"
    __global__ void sum(int* out, const int* in, long long n, void* scratch) {}
    LAUNCH_PLAN(sums, Gpu gpu, long long n) {
      return plan_with_scratch(4 * n)
          .then(KERNEL(sum), {.grid = dim3(gpu.sm_count), .block = dim3(32, 8)});
    })");
  EXPECT_TRUE(code.compiled) << code.output;
  const CompiledCode mixed = compiled(R"(
    #include "kernel.cuh"
    __global__ void sum(int* out, const int* in, long long n, void* scratch) {}
    LAUNCH_PLAN(sums, Gpu gpu, long long n) {
      return plan_with_scratch(4 * n).then("sum", {.grid = dim3(gpu.sm_count), .block = dim3(32)});
    })");
  EXPECT_FALSE(mixed.compiled);
}

INSTANTIATE_TEST_SUITE_P(Compilers, EarlierLaunches,
                         testing::Values(compilers::DeviceCompiler::kClang,
                                         compilers::DeviceCompiler::kNvcc));

TEST(UsesEarlierLaunches, GoesByWordsThatTodaysLaunchesDoNotHave) {
  EXPECT_TRUE(compilers::uses_earlier_launches("i = before_this_block(kThreads) + threadIdx.x;"));
  EXPECT_TRUE(compilers::uses_earlier_launches("plan.then( \"first\", shape)"));
  EXPECT_TRUE(compilers::uses_earlier_launches("const int blocks = gpu.sm_count;"));
  EXPECT_FALSE(
      compilers::uses_earlier_launches("LAUNCH_SHAPE(k, Gpu gpu, int n) { gpu.sm_count }"));
  EXPECT_FALSE(compilers::uses_earlier_launches("plan.then(KERNEL(first), shape)"));
  EXPECT_FALSE(compilers::uses_earlier_launches(""));
  const std::string spaces(1'000'000, ' ');
  EXPECT_FALSE(compilers::uses_earlier_launches("plan.then" + spaces + "(KERNEL(first), shape)"));
}

}  // namespace
}  // namespace membound::judge
