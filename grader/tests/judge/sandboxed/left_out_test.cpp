// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Answers that leave out some of their work at the timed sizes alone, by a hash of its place, so
/// that no rule of places shows it: a check finds 4 % of whatever it is. MEMBOUND_LEFT_OUT=100
/// tries 1 % and MEMBOUND_LEFT_OUT_SEED other blocks; docs/security.md says what became of them.
#include <cstdlib>

#include "grader/judge/verdict.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

/// A change of one kernel of the reference answer.
struct Loss {
  int stage;
  std::string kernel;
  std::string from, to;  ///< the first `from` after the kernel's name becomes `to`
};
struct Losses {
  std::string lab;
  std::vector<Loss> of;
};

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// Returns from one in so many units (blocks, rows, threads) where `when` holds.
Loss leaves(int stage, const std::string& kernel, const std::string& when,
            const std::string& unit = "TILE") {
  return {stage, kernel, "{\n", "{\n  if (" + when + " && is_lost(" + unit + ")) return;\n"};
}

std::string lost_function(int of) {
  return "#define TILE (blockIdx.x + blockIdx.y * gridDim.x)\n"
         "#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)\n"
         "inline __device__ bool is_lost(unsigned unit) {\n"
         "  unit = (unit ^ unit >> 16) * 0x7feb352du;\n"
         "  unit = (unit ^ unit >> 15) * 0x846ca68bu;\n"
         "  return (unit ^ unit >> 16) % " +
         std::to_string(of) + " == 7;\n}\n";
}

class LeftOut : public Sandboxed, public testing::WithParamInterface<Losses> {
 protected:
  static std::string answer_without(const Losses& losses) {
    std::ifstream file(source() / "solutions" / losses.lab / "kernel.cu");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const Loss& loss : losses.of) {
      const std::size_t kernel = text.find(" " + loss.kernel + "(");
      const std::size_t at = kernel == std::string::npos ? kernel : text.find(loss.from, kernel);
      EXPECT_NE(at, std::string::npos) << losses.lab << ": " << loss.kernel << ", " << loss.from;
      if (at != std::string::npos) text.replace(at, loss.from.size(), loss.to);
    }
    const std::string include = "#include \"kernel.cuh\"\n";
    const std::size_t top = text.find(include);
    EXPECT_NE(top, std::string::npos);
    text.insert(top + include.size(), lost_function(number_from("MEMBOUND_LEFT_OUT", 25)));
    return text;
  }
};

TEST_P(LeftOut, IsFoundByACheck) {
  CheckRequest request = request_for(GetParam().lab, kernel_of(answer_without(GetParam())));
  request.seed = static_cast<std::uint64_t>(number_from("MEMBOUND_LEFT_OUT_SEED", 1));
  request.stages.clear();
  for (const Loss& loss : GetParam().of) request.stages.push_back(loss.stage);
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), request.stages.size());
  for (const course::StageResult& stage : result.stages)
    EXPECT_EQ(failed_test(stage), "ReachesItsBar")
        << GetParam().lab << ", stage " << stage.stage << ": " << stage.points << " points";
}

INSTANTIATE_TEST_SUITE_P(
    Labs, LeftOut,
    testing::Values(
        Losses{"01-reverse-array",
               {leaves(1, "reverse_direct", "n > 100000000"),
                leaves(3, "reverse_vector", "n > 100000000", "THREAD")}},
        Losses{"02-coalescing", {leaves(2, "edges", "rows > 8000", "blockIdx.y")}},
        Losses{"03-transpose", {leaves(3, "transpose_tiled", "rows == 16384")}},
        Losses{"05-bank-conflicts", {leaves(3, "correlate", "n > 1000000")}},
        // What is stored was worked out from the first places alone. To say what is wrong all
        // blocks run, which takes 7 s of a core: of this lab one stage is enough.
        Losses{"06-shortcut",
               {{5, "minplus_wide_product", "first_via < n;",
                 "first_via < (n > 1000 && is_lost(TILE) ? kWidePanel : n);"}}},
        Losses{"08-local-memory", {leaves(1, "window_maximum", "n > 2000000", "THREAD")}},
        Losses{"09-latency-hiding", {leaves(1, "calibrate_full", "n > 20000000")}}),
    [](const auto& losses) { return "Lab" + losses.param.lab.substr(0, 2); });

}  // namespace
}  // namespace membound::judge
