// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The students' program in a build folder of its own: what it does with commands that it lacks.
#include <gmock/gmock.h>

#include <filesystem>

#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class StudentProgram : public testing::Test {
 protected:
  StudentProgram() {
    fs::create_directories(folder_.path() / "bin");
    fs::copy_file(MEMBOUND_STUDENT_PROGRAM, folder_.path() / "bin" / "membound-student");
  }
  base::ProcessOutcome run(std::vector<std::string> words,
                           const std::string& root = MEMBOUND_SOURCE_DIR) {
    words.insert(words.begin(), (folder_.path() / "bin" / "membound-student").string());
    const auto run = base::run_process(
        {.arguments = words, .environment = {{"MEMBOUND_ROOT", root}}, .timeout_seconds = 60});
    return run ? *run : base::ProcessOutcome();
  }
  judge::TemporaryFolder folder_;
};

TEST_F(StudentProgram, HasStudentsCommands) {
  const auto outcome = run({"list", "--names"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("01-reverse-array"));
}

TEST_F(StudentProgram, SaysHowACommandThatItLacksIsBuilt) {
  const auto outcome = run({"grade", "in.zip", "--lab", "3"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("is not built yet"));
  EXPECT_THAT(outcome.output, HasSubstr("./membound grade"));
}

TEST_F(StudentProgram, HandsOtherCommandsToTheWholeProgramWordByWord) {
  folder_.write("bin/membound", "#!/bin/sh\nprintf '[%s]' \"$@\"\n");
  fs::permissions(folder_.path() / "bin" / "membound", fs::perms::owner_all);
  EXPECT_EQ(run({"grade", "in.zip", "--lab", "3", "--out", "a b"}).output,
            "[grade][in.zip][--lab][3][--out][a b]");
  EXPECT_EQ(run({"dev", "check", "--run"}).output, "[dev][check][--run]");
}

TEST_F(StudentProgram, TellsOfStudentsCommandsAloneInACourseThatWasHandedOut) {
  folder_.write("course/labs/CMakeLists.txt", "");
  folder_.write("course/released/release.json", "{}");
  const std::string course = (folder_.path() / "course").string();
  for (const std::string word : {"grad", "chekc", "relase"}) {
    const std::string told = run({word}, course).output;
    EXPECT_THAT(told, HasSubstr("there is no command \"" + word + "\""));
    EXPECT_THAT(told, HasSubstr(" completion"));
    for (const char* const staff : {
#define STAFF_COMMAND(id, name) name,
#include "grader/cli/staff_commands.def"
         })
      EXPECT_THAT(told, Not(ContainsRegex("[ \"]" + std::string(staff) + "[,\"\n]")));
  }
  EXPECT_THAT(run({"chekc"}, course).output, HasSubstr("did you mean \"check\"?"));
  EXPECT_THAT(run({"--help"}, course).output,
              AllOf(HasSubstr("report-bug"), HasSubstr("Labs and stages"),
                    Not(HasSubstr("For instructors")), Not(HasSubstr("gradescope"))));
  EXPECT_THAT(run({"--help"}).output, HasSubstr("gradescope"));
  EXPECT_THAT(run({"completion", "bash"}, course).output,
              AllOf(HasSubstr("check)"), Not(HasSubstr("grade)"))));
  // A wheel has nothing that could build it.
  EXPECT_THAT(run({"grade", "in.zip"}, course).output, HasSubstr("is not installed here"));
}

TEST_F(StudentProgram, LetsTheWholeProgramCompleteItsOwnCommands) {
  folder_.write("bin/membound", "#!/bin/sh\nprintf '[%s]' \"$@\"\n");
  fs::permissions(folder_.path() / "bin" / "membound", fs::perms::owner_all);
  EXPECT_EQ(run({"completion", "bash"}).output, "[completion][bash]");
}

TEST_F(StudentProgram, SuggestsCommandsOfBothPrograms) {
  EXPECT_THAT(run({"grad"}).output, HasSubstr("did you mean \"grade\"?"));
  EXPECT_THAT(run({"chekc"}).output, HasSubstr("did you mean \"check\"?"));
}

}  // namespace
}  // namespace membound::cli
