// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The way of somebody new: the first screen, `start`, a call in a lab's folder, the file that is
/// handed in, the report for whoever helps; all of it also where there is no terminal.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grader/tests/cli/commands.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class StudentsWay : public Commands {
 protected:
  /// The program as it is called in `folder`.
  base::ProcessOutcome run_in(const fs::path& folder, std::vector<std::string> words) {
    words.insert(words.begin(), course_.program().string());
    const auto run = base::run_process({.arguments = words,
                                        .environment = course_.environment(),
                                        .folder = folder,
                                        .timeout_seconds = 60});
    EXPECT_TRUE(run);
    return run ? *run : base::ProcessOutcome();
  }
};

TEST_F(StudentsWay, WithoutAWordItIsOneScreenWithTheNextCommand) {
  const auto fresh = course_.run({});
  EXPECT_EQ(fresh.exit_code, 0);
  EXPECT_THAT(fresh.output, AllOf(StartsWith("Membound: a CUDA lab course that grades itself.\n"),
                                  HasSubstr("You are at 01-fake/1, The first step (not started)"),
                                  HasSubstr("\nNext: ./membound start\n")));
  EXPECT_LE(std::ranges::count(fresh.output, '\n'), 23);
  EXPECT_LE(widest_line(fresh.output), 80u);
  course_.answer("passed", "slow");
  check({"1"});
  EXPECT_THAT(course_.run({}).output,
              AllOf(HasSubstr("You are at 01-fake/2"), HasSubstr("\nNext: ./membound next\n"),
                    Not(HasSubstr("membound start"))));
}

TEST_F(StudentsWay, ATreeThatCameWithProgramsKnowsWhatNobodyHasTouched) {
  // There no build kept a copy; the skeletons lie in released/.
  for (const char* lab : {"01-fake", "03-transpose"}) {
    const fs::path kept = fs::path("../build/share/labs") / lab / "kernel.cu";
    course_.write(fs::path("released") / lab / "skeleton.cu",
                  course_.read(course_.root() / "labs" / lab / "kernel.cu"));
    fs::remove(course_.root() / kept);
  }
  EXPECT_THAT(course_.run({"next", "1"}).output,
              AllOf(HasSubstr("(not started)"), HasSubstr("read     ./membound handout 01-fake")));
  EXPECT_THAT(check({"1"}).output, AllOf(HasSubstr("not started"), Not(HasSubstr("wrong"))));
}

TEST_F(StudentsWay, StartIsTenLinesWhereThereIsNoTerminal) {
  const auto start = course_.run({"start"}, {{"EDITOR", "/bin/false"}});
  EXPECT_EQ(start.exit_code, 0) << start.output;
  EXPECT_THAT(start.output, AllOf(StartsWith("Lab 01, stage 1 of 2: The first step\n"),
                                  HasSubstr("labs/01-fake/kernel.cu, line "),
                                  HasSubstr("\nNext: ./membound watch 01-fake\n")));
  EXPECT_LE(std::ranges::count(start.output, '\n'), 10);
  course_.answer("passed", "slow");
  check({"1"});
  EXPECT_THAT(course_.run({"start"}).output, StartsWith("Lab 01, stage 2 of 2"));
}

TEST_F(StudentsWay, ACallInALabsFolderMeansThatLab) {
  const fs::path lab = course_.root() / "labs/03-transpose";
  EXPECT_THAT(run_in(lab, {"check", "--device", "vgpu"}).output, HasSubstr("Lab 03-transpose:"));
  EXPECT_THAT(run_in(lab, {"next"}).output, StartsWith("Next: 03-transpose/1"));
  EXPECT_THAT(run_in(course_.root(), {"next"}).output, StartsWith("Next: 01-fake/1"));
  const auto outside = run_in(course_.root(), {"check"});
  EXPECT_EQ(outside.exit_code, 2);
  EXPECT_THAT(outside.output, AllOf(HasSubstr("LAB is missing"), HasSubstr("check 01-fake")));
}

TEST_F(StudentsWay, APartOfALabIsNeverCalledAllStages) {
  course_.answer("passed", "passed");
  EXPECT_THAT(check({"1/1"}).output, Not(HasSubstr("All stages")));
  EXPECT_THAT(check({"1"}).output, HasSubstr("All stages passed."));
}

TEST_F(StudentsWay, HandInCallsAnUntouchedStageNotStartedAsACheckDoes) {
  const std::string one = "// Stage 1: one\n", two = "// Stage 2: two\n";
  course_.write("../build/share/labs/01-fake/kernel.cu", one + two);
  course_.write("labs/01-fake/kernel.cu", one + "// stage 1: passed\n" + two);
  const auto handed = course_.run(
      {"hand-in", "1", "--device", "vgpu", "--out", (course_.root() / "mine.zip").string()});
  EXPECT_THAT(handed.output,
              AllOf(HasSubstr("passed"), HasSubstr("not started"), Not(HasSubstr("wrong result"))));
}

TEST_F(StudentsWay, HandInWritesOneZipWithTheKernelAlone) {
  EXPECT_THAT(course_.run({"hand-in", "1"}).output, HasSubstr("is the untouched skeleton"));
  course_.answer("passed", "slow");
  const fs::path file = course_.root() / "mine.zip";
  const auto first = course_.run({"hand-in", "1", "--device", "vgpu", "--out", file.string()});
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, AllOf(HasSubstr("too slow"), HasSubstr("holds 01-fake/kernel.cu"),
                                  HasSubstr("Upload it as it is")));
  const std::string bytes = course_.read(file);
  const fs::path out = course_.root() / "unpacked";
  fs::create_directories(out);
  const auto unpacked =
      base::run_process({.arguments = {"cmake", "-E", "tar", "xf", file.string()}, .folder = out});
  ASSERT_TRUE(unpacked && unpacked->exit_code == 0);
  EXPECT_EQ(course_.read(out / "01-fake/kernel.cu"), course_.read(course_.kernel()));
  EXPECT_EQ(std::distance(fs::recursive_directory_iterator(out), {}), 2);
  EXPECT_EQ(course_.run({"hand-in", "1", "--no-check", "--out", file.string()}).exit_code, 0);
  EXPECT_EQ(course_.read(file), bytes) << "the same kernel makes the same file";
  EXPECT_EQ(course_.run({"hand-in", "1", "--no-check", "--out", "/proc/no/where.zip"}).exit_code,
            3);
}

TEST_F(StudentsWay, ABugReportShowsAllThatItHolds) {
  course_.answer("wrong", "slow");
  check({"1"});
  course_.write(".membound/build.log", "[1/2] Building\n/a/home/x.cpp: error\n");
  const auto told = course_.run({"report-bug"}, {{"HOME", "/a/home"}});
  EXPECT_EQ(told.exit_code, 0) << told.output;
  const std::string file = course_.read(course_.root() / ".membound/bug-report.md");
  EXPECT_THAT(told.output, AllOf(StartsWith(file), HasSubstr("Nothing was sent")));
  EXPECT_THAT(file, AllOf(HasSubstr("membound 0."), HasSubstr("01-fake, checked "),
                          HasSubstr("~/x.cpp: error"), Not(HasSubstr("/a/home"))));
}

TEST_F(StudentsWay, ABugReportSaysOnceThatTheCourseCannotBeWritten) {
  fs::remove_all(course_.root() / ".membound");
  course_.write(".membound", "a file, so that there can be no folder, whoever runs this\n");
  const fs::path other = course_.root() / "tmp";
  fs::create_directories(other);
  for (const char* command : {"doctor", "report-bug"}) {
    const auto told = course_.run({command}, {{"TMPDIR", other.string()}});
    const auto first = told.output.find(" cannot be written;");
    EXPECT_NE(first, std::string::npos) << told.output;
    EXPECT_EQ(told.output.find(" cannot be written;", first + 1), std::string::npos) << told.output;
  }
  const fs::path report = other / ("membound-" + std::to_string(getuid())) / "bug-report.md";
  EXPECT_THAT(course_.read(report), HasSubstr("\nprogress: " + report.parent_path().string()));
}

TEST_F(StudentsWay, NextNamesTheSectionToRead) {
  const auto lab = nlohmann::json::parse(course_.read(course_.root() / "labs/01-fake/lab.json"));
  course_.write(lab.at("handout"), "# Lab\n\n### Stage 1: count threads\n\nText.\n");
  EXPECT_THAT(course_.run({"next"}).output, HasSubstr("\"Stage 1: count threads\""));
}

}  // namespace
}  // namespace membound::cli
