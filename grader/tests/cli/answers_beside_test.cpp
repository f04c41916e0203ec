// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// The commands of a student in a lab that wants answers.md beside kernel.cu.
#include <gmock/gmock.h>

#include <filesystem>

#include "grader/base/digest.hpp"
#include "grader/base/process.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/tests/cli/commands.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEmptyAnswers = "# What was wrong\n\n## Stage 1\n\n- line:\n";

class AnswersBeside : public Commands {
 protected:
  void SetUp() override {
    skeleton_ =
        course::joined_submission(course_.read(course_.kernel()), {{"answers.md", kEmptyAnswers}});
    course::Lab lab;
    lab.id = "01-fake";
    std::string json = course_.read(course_.root() / "labs/01-fake/lab.json");
    const auto put = [&](const std::string& before, const std::string& text) {
      const auto at = json.find(before);
      ASSERT_NE(at, std::string::npos) << before;
      json.insert(at, text);
    };
    put(R"("stages")", R"("files": ["kernel.cu", "answers.md"],
  "mended": {"sha256": ")" +
                           base::sha256(skeleton_) +
                           R"(", "lines": 3},
  "answers": {"points_share": 0.4, "lines": ["line"]},
  )");
    put(R"("timed_sizes")",
        R"("answers": {"line": [")" + course::answer_digest(lab, 1, "line", "2") + R"("]}, )");
    course_.write("labs/01-fake/lab.json", json);
    course_.write("labs/01-fake/answers.md", kEmptyAnswers);
    course_.write("../build/share/labs/01-fake/kernel.cu", skeleton_);
  }
  void say(const std::string& line) {
    course_.write("labs/01-fake/answers.md", "## Stage 1\n- line: " + line + "\n");
  }
  std::string answers() { return course_.read(course_.root() / "labs/01-fake/answers.md"); }
  std::string skeleton_;
};

TEST_F(AnswersBeside, FindingAndMendingCountApart) {
  course_.answer("passed", "passed");
  say("3");
  const auto wrong = check({"1/1"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.output,
              AllOf(HasSubstr("not as asked"), HasSubstr("failed: NamesTheMistake"),
                    HasSubstr("answers.md:2: the line \"3\" is not that of the mistake"),
                    HasSubstr("6 of 10 points")));
  say("2");
  const auto right = check({"1/1"});
  EXPECT_EQ(right.exit_code, 0) << right.output;
  EXPECT_THAT(right.output, HasSubstr("10 of 10 points"));
  course_.answer("wrong", "passed");
  EXPECT_THAT(check({"1/1"}).output,
              AllOf(HasSubstr("element 3 is 0"), HasSubstr("4 of 10 points")));
}

TEST_F(AnswersBeside, ResetTakesBothFilesAndGivesThemBack) {
  course_.answer("passed", "passed");
  say("2");
  const std::string own = course_.read(course_.kernel());
  const auto reset = course_.run({"reset", "1"});
  EXPECT_THAT(reset.output, HasSubstr("kernel.cu and answers.md: the skeleton again"));
  EXPECT_EQ(answers(), kEmptyAnswers);
  EXPECT_THAT(course_.read(course_.kernel()), AllOf(HasSubstr("TODO 1"), Not(HasSubstr("passed"))));
  EXPECT_EQ(course_.run({"reset", "1", "--undo"}).exit_code, 0);
  EXPECT_THAT(answers(), HasSubstr("- line: 2"));
  EXPECT_EQ(course_.read(course_.kernel()), own);
}

TEST_F(AnswersBeside, HandInHoldsBothFiles) {
  EXPECT_THAT(course_.run({"hand-in", "1"}).output, HasSubstr("is the untouched skeleton"));
  course_.answer("passed", "passed");
  say("2");
  const fs::path file = course_.root() / "mine.zip", out = course_.root() / "unpacked";
  const auto handed = course_.run({"hand-in", "1", "--no-check", "--out", file.string()});
  EXPECT_THAT(handed.output, HasSubstr("holds 01-fake/kernel.cu and 01-fake/answers.md"));
  fs::create_directories(out);
  const auto unpacked =
      base::run_process({.arguments = {"cmake", "-E", "tar", "xf", file.string()}, .folder = out});
  ASSERT_TRUE(unpacked && unpacked->exit_code == 0);
  EXPECT_EQ(course_.read(out / "01-fake/kernel.cu"), course_.read(course_.kernel()));
  EXPECT_EQ(course_.read(out / "01-fake/answers.md"), answers());
}

TEST_F(AnswersBeside, AMissingFileIsTold) {
  course_.answer("passed", "passed");
  fs::remove(course_.root() / "labs/01-fake/answers.md");
  EXPECT_THAT(check({"1/1"}).output, HasSubstr("answers.md is not there"));
  EXPECT_THAT(
      course_.run({"hand-in", "1", "--no-check", "--out", (course_.root() / "mine.zip").string()})
          .output,
      HasSubstr("answers.md is not beside labs/01-fake/kernel.cu"));
}

}  // namespace
}  // namespace membound::cli
