// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/program_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using testing::HasSubstr;
using testing::Not;

course::KernelProfile kernel_of(const std::string& name, const std::string& file, double ns) {
  course::KernelProfile kernel;
  kernel.name = "void " + name + "(float*, int)";
  kernel.grid = {8, 1, 1};
  kernel.block = {256, 1, 1};
  kernel.predicted_ns = ns;
  kernel.dram_bytes = 8000;
  kernel.occupancy = 0.5;
  kernel.limiter = "registers";
  kernel.bound = "DRAM bandwidth";
  kernel.lines = {{file, 2, 1024, 0, 0}, {"header.hpp", 1, 9999, 0, 0}};
  return kernel;
}

/// Two kernels in two files, the shorter one launched more often.
ProgramProfile two_kernels() {
  ProgramProfile profile{"./a.out 7", "NVIDIA H200 (virtual)", {}, {}};
  profile.kernels = {kernel_of("slow", "a.cu", 4000), kernel_of("often", "b.cu", 2000)};
  profile.kernels[1].launches = 3;
  profile.kernels[0].advice = {{"bank-conflicts", "bank conflicts", 1.4, "32 wavefronts",
                                "shared_wavefronts", 64, "a.cu", 2, "pad it", "05-x", "Why"}};
  profile.lines = {{"a.cu", 2, "", "load", "sectors", 32, 32, 4},
                   {"b.cu", 2, "", "load", "sectors", 32, 4, 4}};
  return profile;
}

SourceText read(const std::string& file) { return {"// " + file, "  line of " + file + ";"}; }

TEST(ProgramProfile, ListsKernelsByTheTimeOfAllTheirLaunches) {
  const std::string text = render_program(two_kernels(), read, Style{});
  EXPECT_LT(text.find("often"), text.find("slow"));
  EXPECT_THAT(text, HasSubstr("GB/s"));
}

TEST(ProgramProfile, ShowsEachKernelsLinesFromItsOwnFile) {
  ProgramProfile profile = two_kernels();
  profile.kernels.pop_back();
  const std::string text = render_program(profile, read, Style{});
  EXPECT_THAT(text, HasSubstr("line of a.cu"));
  EXPECT_THAT(text, Not(HasSubstr("b.cu")));
}

TEST(ProgramProfile, TellsWhatWouldMakeAKernelFaster) {
  const std::string text = render_program(two_kernels(), read, Style{});
  EXPECT_THAT(text, HasSubstr("1.40 x   without bank conflicts, a.cu:2"));
  EXPECT_THAT(text, HasSubstr("try: pad it"));
}

TEST(ProgramProfile, FitsTheTerminal) {
  ProgramProfile profile = two_kernels();
  profile.kernels[0].name = "void " + std::string(120, 'n') + "<float, 32>(float*)";
  const std::string text = render_program(profile, read, Style{});
  const std::string table = text.substr(0, text.find("\n\n", text.find("what binds")));
  for (std::size_t from = 0; from < table.size();) {
    const std::size_t end = std::min(table.find('\n', from), table.size());
    const std::string line = table.substr(from, end - from);
    EXPECT_LE(columns(line), 80U) << line;
    from = end + 1;
  }
}

TEST(ProgramPage, NeedsNothingBesideItAndHoldsEveryKernel) {
  const std::string page = program_page(two_kernels(), read);
  EXPECT_THAT(page, HasSubstr("<style>"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  EXPECT_THAT(page, HasSubstr("<h3><code>void often(float*, int)</code></h3>"));
  EXPECT_THAT(page, HasSubstr("without bank conflicts, a.cu:2"));
  EXPECT_THAT(page, HasSubstr("line of b.cu"));
}

}  // namespace
}  // namespace membound::report
