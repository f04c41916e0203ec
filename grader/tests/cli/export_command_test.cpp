// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound export where somebody's work is matched with nobody: no zero for its author.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kSheet =
    "Identifier,Full name,ID number,Email address,Grade,Maximum Grade\n"
    "Participant 300,Ada Lovelace,s01,ada@x.org,,10.00\n"
    "Participant 307,Ana Gil,s08,a1@x.org,,10.00\n"
    "Participant 308,Ana Gil,s09,a2@x.org,,10.00\n"
    "Participant 310,Nobody Here,s10,n@x.org,,10.00\n";

/// Three of a class of four handed in, two of them with one name, and no table said who is who.
class ExportOfNamesakes : public testing::Test {
 protected:
  ExportOfNamesakes() {
    queue::make_fake_class(folder_.path(), 0);
    course_ = queue::fake_course(folder_.path());
    for (const auto& [name, number] :
         {std::pair("Ada Lovelace", "300"), {"Ana Gil", "307"}, {"Ana Gil", "308"}})
      queue::write_text(folder_.path() / "in" /
                            (std::string(name) + "_" + number + "_assignsubmission_file_") /
                            "kernel.cu",
                        "__global__ void quick(int*);  // " + std::string(number) + "\n");
    queue::BatchRequest request =
        queue::fake_batch(folder_.path(), course_, folder_.path() / "out");
    request.roster_text =
        "id,name,email\ns01,Ada Lovelace,ada@x.org\ns08,Ana Gil,a1@x.org\ns09,Ana Gil,a2@x.org\n"
        "s10,Nobody Here,n@x.org\n";
    request.intake.roster = *intake::Roster::from_text(*request.roster_text, "class.csv");
    request.grade_one = [](const queue::OneRequest& one) {
      queue::OneOutcome outcome = queue::fake_grade(one);
      course::Result result = outcome.grade.result;
      result.stages[0].points = 10;
      result.stages[0].verdict = course::Verdict::kPassed;
      outcome.grade.take(std::move(result), *one.lab);
      return outcome;
    };
    EXPECT_TRUE(queue::run_batch(request));
    EXPECT_TRUE(base::write_file(folder_.path() / "sheet.csv", kSheet));
  }
  base::ProcessOutcome exported(const std::vector<std::string>& words) {
    std::vector<std::string> all = {MEMBOUND_PROGRAM, "export", (folder_.path() / "out").string(),
                                    "--out", (folder_.path() / "exported").string()};
    all.insert(all.end(), words.begin(), words.end());
    auto outcome = base::run_process({.arguments = all});
    EXPECT_TRUE(outcome);
    if (!outcome) return {};
    // Long lines are broken where the terminal ends.
    std::replace(outcome->output.begin(), outcome->output.end(), '\n', ' ');
    return *outcome;
  }
  /// "s01 10.00": id and grade of each row that has one.
  std::string grades(const std::string& file, const std::string& id, const std::string& points) {
    const auto text = base::read_file(folder_.path() / "exported" / file);
    if (!text) return "no file";
    const auto table = base::read_csv(*text, file);
    EXPECT_TRUE(table && table->column(id) && table->column(points)) << *text;
    std::string all;
    for (const auto& row : table->rows)
      if (!row[*table->column(points)].empty())
        all +=
            (all.empty() ? "" : ", ") + row[*table->column(id)] + " " + row[*table->column(points)];
    return all;
  }

  const base::ScratchFolder folder_{"export"};
  course::Course course_;
};

TEST_F(ExportOfNamesakes, WritesNothingAndListsThem) {
  const auto outcome = exported({"--format", "moodle"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("307"));
  EXPECT_THAT(outcome.output, HasSubstr("it may be s08, s09"));
  EXPECT_THAT(outcome.output, HasSubstr("2 works whose author is not known"));
  EXPECT_EQ(grades("moodle.csv", "ID number", "01-quick"), "no file");
}

TEST_F(ExportOfNamesakes, WritesNoZeroForThoseWhoseWorkItMayBe) {
  const auto outcome = exported({"--format", "canvas", "--allow-unmatched"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(grades("canvas.csv", "SIS User ID", "01-quick"), " 10.00, s01 10.00, s10 0.00")
      << "the maximum, and the two who are known";
}

TEST_F(ExportOfNamesakes, TheSheetItselfTellsThemApart) {
  const auto outcome =
      exported({"--format", "moodle", "--sheet", (folder_.path() / "sheet.csv").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(grades("moodle-worksheet.csv", "ID number", "Grade"),
            "s01 10.00, s08 10.00, s09 10.00, s10 0.00");
}

}  // namespace
}  // namespace membound::cli
