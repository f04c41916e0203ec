// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// `membound check`, from its command line to what it prints, on a fake course.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "grader/tests/cli/commands.hpp"
#include "grader/tests/course/schema_check.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(Commands, CheckEndsWith0WhenEveryStagePasses) {
  course_.answer("passed", "passed");
  const auto outcome = check({"fake"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("01-fake"), HasSubstr("passed"), HasSubstr("30")));
}

TEST_F(Commands, CheckExplainsTheFirstFailureAndEndsWith1) {
  course_.answer("wrong", "passed");
  const auto outcome = check({"fake"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("CutOff"), HasSubstr("element 3 is 0, expected 7"),
                                    HasSubstr("hint 01/1")));
}

TEST_F(Commands, CheckGradesTheStagesBehindAFault) {
  course_.answer("fault", "passed");
  const auto outcome = check({"fake"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("fault"), HasSubstr("passed")));
}

TEST_F(Commands, CheckOfOneStageLooksAtThatStageOnly) {
  course_.answer("wrong", "passed");
  EXPECT_EQ(check({"1/2"}).exit_code, 0);
  EXPECT_EQ(check({"1/second"}).exit_code, 0);
}

TEST_F(Commands, CheckRefusesATestOrSizeThatCannotBe) {
  using Words = std::vector<std::string>;
  for (const Words& more :
       {Words{"--test", "*"}, Words{"--test", ""}, Words{"--size", "12x"}, Words{"--size", "0"},
        Words{"--size", "1x2x3x4x5x6x7"}, Words{"--size", "999999999"}, Words{"--size", "many"}}) {
    Words words = {"check", "fake"};
    words.insert(words.end(), more.begin(), more.end());
    const auto outcome = course_.run(words);
    EXPECT_EQ(outcome.exit_code, 2) << more[1];
    EXPECT_THAT(outcome.output, HasSubstr(more[0])) << more[1];
  }
}

TEST_F(Commands, CheckShowsTheCompilersWordsAndOneHint) {
  // The compiler complains of line 3; what is missing is missing at the end of the line before.
  course_.write("labs/01-fake/kernel.cu", "// two lines\nint a = 1\nsyntax error\n");
  const auto outcome = check({"1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("labs/01-fake/kernel.cu:2:10: error: expected a \";\""),
                    HasSubstr("';' is missing")));
}

TEST_F(Commands, ACompileErrorLeadsToTheErrorAndNotToAHint) {
  course_.write("labs/01-fake/kernel.cu", "syntax error\n");
  EXPECT_THAT(
      check({"1"}).output,
      AllOf(HasSubstr("Next: mend the first thing the compiler says, then ./membound check"),
            Not(HasSubstr("./membound hint"))));
  const auto hint = course_.run({"hint", "1"});
  EXPECT_EQ(hint.exit_code, 0);
  EXPECT_THAT(hint.output, AllOf(HasSubstr("Hint 1 of 1"), HasSubstr("';' is missing")));
}

TEST_F(Commands, WarningsAreShownThoughAllPassesButNoneOfAnUntouchedStage) {
  const std::string one = "// Stage 1: one\n", two = "// Stage 2: two\n// warn me, skeleton\n";
  const std::string skeleton = one + two;
  for (const char* lab : {"01-fake", "03-transpose"})
    course_.write("../build/share/labs/" + std::string(lab) + "/kernel.cu", skeleton);
  course_.write("labs/01-fake/kernel.cu", one + "// warn me\n// stage 1: passed\n" + two);
  const auto outcome = check({"1/1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("The compiler warns:\nlabs/01-fake/kernel.cu:2:1: warning #177-D"),
                    Not(HasSubstr("kernel.cu:5"))));
}

TEST_F(Commands, APageCallsAnUntouchedStageNotStartedAsTheTerminalDoes) {
  const fs::path page = course_.root() / "check.html";
  const auto outcome = check({"1", "--html", page.string()});
  EXPECT_THAT(outcome.output, HasSubstr("not started"));
  EXPECT_THAT(course_.read(page),
              AllOf(HasSubstr("not started"), HasSubstr("Next: ./membound next 01"),
                    Not(HasSubstr("wrong result")), Not(HasSubstr("Failed:"))));
}

TEST_F(Commands, ACheckOfOneStageShowsNoOtherStagesWarnings) {
  course_.write("labs/01-fake/kernel.cu",
                "// warn me, all\n// Stage 1: one\n// warn me\n// stage 1: passed\n"
                "// Stage 2: two\n// warn me, begun\n// stage 2: passed\n");
  EXPECT_THAT(check({"1/1"}).output, AllOf(HasSubstr("kernel.cu:1"), HasSubstr("kernel.cu:3"),
                                           Not(HasSubstr("kernel.cu:6"))));
  EXPECT_THAT(check({"1"}).output, HasSubstr("kernel.cu:6"));
}

TEST_F(Commands, CheckEndsWith3WhenOurProgramFails) {
  course_.answer("infra", "passed");
  const auto outcome = check({"1"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("no device"));
}

TEST_F(Commands, CheckWritesResultsThatFitTheSchema) {
  course_.answer("slow", "passed");
  const auto file = course_.root() / "out" / "r.json";
  EXPECT_EQ(check({"1", "--json", file.string(), "--seed", "77"}).exit_code, 1);
  const auto json = nlohmann::json::parse(course_.read(file));
  EXPECT_EQ(course::schema_problems("docs/result.schema.json", json), "");
  EXPECT_EQ(json["seed"], 0u + 77);
  EXPECT_EQ(json["compiler"], "nvcc 13.0.1");
  EXPECT_EQ(json["submission"]["file"], "labs/01-fake/kernel.cu");
  EXPECT_EQ(json["stages"][0]["verdict"], "slow");
  EXPECT_EQ(json["stages"][0]["points"], 5);
  EXPECT_EQ(json["stages"][0]["bandwidth_gbs"], 5);
  EXPECT_EQ(json["stages"][0]["reference_gbs"], 10);
  EXPECT_EQ(json["stages"][1]["points"], 20);
}

TEST_F(Commands, CheckPrintsOnlyJsonWhenAskedTo) {
  course_.answer("passed", "passed");
  const auto outcome = check({"1", "3", "--json", "-"});
  const auto json = nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_TRUE(json.is_array()) << outcome.output;
  EXPECT_EQ(json.size(), 2u);
}

TEST_F(Commands, CheckOfSeveralLabsSumsUp) {
  course_.answer("passed", "passed");
  const auto outcome = check({"1", "3"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("together"));
}

TEST_F(Commands, CheckGradesAnotherFileWithoutTouchingProgress) {
  const auto other = course_.write("mine.cu", "// stage 1: passed\n// stage 2: passed\n");
  EXPECT_EQ(check({"1", "--submission", other.string()}).exit_code, 0);
  EXPECT_FALSE(fs::exists(course_.root() / ".membound/state/01-fake"));
  EXPECT_EQ(check({"1", "3", "--submission", other.string()}).exit_code, 2);
  EXPECT_EQ(check({"1", "--submission", "/nowhere.cu"}).exit_code, 2);
}

TEST_F(Commands, CheckSuggestsTheLabThatWasMeant) {
  const auto outcome = check({"transpsoe"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, AllOf(StartsWith("membound: there is no lab \"transpsoe\""),
                                    HasSubstr("did you mean \"transpose\"?")));
}

TEST_F(Commands, CheckNamesABrokenLabAndTheOthersGoOn) {
  course_.write("labs/03-transpose/lab.json", "{\"id\": 3}");
  EXPECT_THAT(check({"1"}).output,
              AllOf(HasSubstr("03-transpose/lab.json:1"), HasSubstr("01-fake")));
  const auto outcome = check({"3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("03-transpose/lab.json:1"));
}

TEST_F(Commands, CheckSaysWhenThereIsNoCompiler) {
  const auto outcome = course_.run({"check", "1", "--device", "vgpu", "--compiler", "clang"},
                                   {{"PATH", "/nowhere"}});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("clang: not found on this machine"),
                                    HasSubstr("apt-get install clang")));
}

TEST_F(Commands, CheckSaysWhenThereIsNoDevice) {
  fs::remove(course_.build() / "vgpu/libcudart.so.13");
  const auto outcome = check({"1"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("virtual GPU: not built"));
}

TEST_F(Commands, CheckSuggestsTheDeviceThatWasMeant) {
  const auto outcome = course_.run({"check", "1", "--device", "vgpu:titan-w"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("did you mean \"vgpu:titan-v\"?"));
}

TEST_F(Commands, CheckSaysThatComputeSanitizerLooksAtGpusAlone) {
  const auto outcome = check({"1", "--sanitizer", "compute"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("vgpu:h200 is no GPU, and compute-sanitizer"));
  EXPECT_EQ(check({"1", "--sanitizer", "ours"}).exit_code, 2);
}

TEST_F(Commands, CheckSaysWhenTheLabIsNotBuilt) {
  fs::remove(course_.build() / "labs/01-fake/test");
  const auto outcome = check({"1"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("is not built"));
}

TEST_F(Commands, CheckWorksInAFolderThatCannotBeWritten) {
  course_.answer("passed", "passed");
  chmod(course_.root().c_str(), 0555);
  const auto outcome = check({"1"});
  chmod(course_.root().c_str(), 0755);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(Commands, CheckSaysWhatChangedSinceTheLastOne) {
  course_.answer("slow", "passed");
  EXPECT_THAT(check({"1"}).output, Not(HasSubstr("Since the last check")));
  EXPECT_THAT(check({"1"}).output, Not(HasSubstr("Since the last check")));
  course_.answer("passed", "passed");
  EXPECT_THAT(check({"1"}).output, HasSubstr("Since the last check of stage 1: too slow → passed"));
}

}  // namespace
}  // namespace membound::cli
