// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Compare : public testing::Test {
 protected:
  Compare() { course_.answer("passed", "slow"); }
  FakeCourse course_;
};

TEST_F(Compare, ShowsARowForEachDeviceAndWritesThePicture) {
  const auto outcome =
      course_.run({"compare", "1/1", "--devices", "k80,vgpu:h200", "--picture", "picture.svg"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(
      outcome.output,
      AllOf(HasSubstr("01-fake/1, The first step; all speeds are predicted"), HasSubstr("\nk80 "),
            HasSubstr("\nh200 "), HasSubstr("10.0 GB/s"), HasSubstr("50 %")));
  EXPECT_LE(widest_line(outcome.output.substr(0, outcome.output.find("the picture is"))), 80u);
  EXPECT_THAT(course_.read(course_.root().parent_path() / "picture.svg"), HasSubstr("<svg"));
}

TEST_F(Compare, PutsASecondKernelBesideTheFirst) {
  const auto other = course_.write("other.cu", "// stage 1: slow\n");
  const auto outcome =
      course_.run({"compare", "1/1", "--devices", "k80", "--with", other.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("yours"), HasSubstr("10.0 GB/s"), HasSubstr("with"),
                                    HasSubstr("5.00 GB/s")));
}

TEST_F(Compare, AWrongKernelIsShownAndNotTimed) {
  course_.answer("wrong", "slow");
  const auto outcome = course_.run({"compare", "1/1", "--devices", "k80"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("wrong"), Not(HasSubstr("GB/s"))));
}

TEST_F(Compare, SaysWhatIsWrongBeforeItRunsAnything) {
  const auto lab = course_.run({"compare", "7/1"});
  EXPECT_EQ(lab.exit_code, 2);
  EXPECT_THAT(lab.output, HasSubstr("01-fake"));
  const auto stages = course_.run({"compare", "1"});
  EXPECT_EQ(stages.exit_code, 2);
  EXPECT_THAT(stages.output, AllOf(HasSubstr("2 stages"), HasSubstr("01-fake/1")));
  const auto device = course_.run({"compare", "1/1", "--devices", "h200,titan-w"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_THAT(device.output, AllOf(HasSubstr("--devices"), HasSubstr("titan-w"),
                                   HasSubstr("did you mean \"vgpu:titan-v\"?")));
  const auto file = course_.run({"compare", "1/1", "--with", "nowhere.cu"});
  EXPECT_NE(file.exit_code, 0);
  EXPECT_THAT(file.output, HasSubstr("nowhere.cu"));
}

TEST_F(Compare, AKernelThatDoesNotCompileIsToldOnce) {
  const auto other = course_.write("other.cu", "syntax error\n");
  const auto outcome = course_.run({"compare", "1/1", "--with", other.string()});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("other.cu"), HasSubstr("expected a \";\"")));
}

}  // namespace
}  // namespace membound::cli
