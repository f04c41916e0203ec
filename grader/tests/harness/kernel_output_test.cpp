// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <gmock/gmock.h>

#include <cstdio>

namespace membound::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(KernelOutput, IsWhatIsPrintedWhileItLives) {
  std::string text;
  std::printf("before\n");
  {
    const KernelOutput output(text);
    std::printf("i = %d\n", 7);
  }
  std::printf("behind\n");
  EXPECT_EQ(text, "i = 7\n");
}

TEST(KernelOutput, KeepsTheBeginning) {
  std::string text;
  for (int round = 0; round < 2; ++round) {
    const KernelOutput output(text);
    for (std::size_t i = 0; i < kMostKernelOutput; ++i) std::fputc("ab"[round], stdout);
    std::fputc('\n', stdout);
  }
  EXPECT_EQ(text, std::string(kMostKernelOutput, 'a'));
}

TEST(KernelOutput, IsShownByLinesAndSaysWhatIsLeftOut) {
  EXPECT_EQ(shown_output(""), "");
  EXPECT_EQ(shown_output("one\ntwo\n"), "\nYour kernels printed:\n  one\n  two");
  std::string many;
  for (int i = 0; i < 23; ++i) many += "line " + std::to_string(i) + "\n";
  EXPECT_THAT(shown_output(many), HasSubstr("  line 19\n  … and 3 more lines"));
  EXPECT_THAT(shown_output(many), Not(HasSubstr("line 20")));
}

TEST(KernelOutput, ShowsNoEscapeSequences) {
  EXPECT_THAT(shown_output("\x1b[2J"), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace membound::harness
