// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound ptx: what it lists, and what it says of what it cannot list.
#include <gmock/gmock.h>

#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Ptx : public testing::Test {
 protected:
  Ptx() { course_.answer("passed", "slow"); }
  FakeCourse course_;
};

TEST_F(Ptx, ListsAFilesKernelsOrThoseNamed) {
  const std::string entry = "()\n{\n  .reg .b32 %r<2>;\n  mov.u32 %r1, 1;\n  ret;\n}\n";
  const std::string file = course_
                               .write("two.ptx",
                                      ".version 8.0\n.target sm_90\n.address_size 64\n"
                                      ".visible .entry one" +
                                          entry + ".visible .entry other" + entry)
                               .string();
  const auto both = course_.run({"ptx", file});
  EXPECT_EQ(both.exit_code, 0) << both.output;
  EXPECT_THAT(both.output, AllOf(HasSubstr("kernel one: 2 instructions"), HasSubstr("mov.u32"),
                                 HasSubstr("kernel other")));
  const auto one = course_.run({"ptx", file, "--kernel", "oth"});
  EXPECT_THAT(one.output, AllOf(HasSubstr("kernel other"), Not(HasSubstr("kernel one"))));
  const auto none = course_.run({"ptx", file, "--kernel", "third"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.output, AllOf(HasSubstr("third"), HasSubstr("one, other")));
}

TEST_F(Ptx, SaysWhatItCannotList) {
  const auto lab = course_.run({"ptx", "7/1"});
  EXPECT_EQ(lab.exit_code, 2);
  EXPECT_THAT(lab.output, HasSubstr("01-fake"));
  const auto stages = course_.run({"ptx", "1"});
  EXPECT_EQ(stages.exit_code, 2);
  EXPECT_THAT(stages.output, AllOf(HasSubstr("2 stages"), HasSubstr("membound ptx 01-fake/1")));
  const auto file = course_.run({"ptx", "nowhere.ptx"});
  EXPECT_EQ(file.exit_code, 2);
  EXPECT_THAT(file.output, HasSubstr("no such file"));
}

}  // namespace
}  // namespace membound::cli
