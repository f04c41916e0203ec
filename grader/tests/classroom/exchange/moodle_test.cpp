// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Moodle files against Moodle's rules of import, written down here a second time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "grader/tests/classroom/exchange/grades.hpp"

namespace membound::exchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kWorksheet =
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 4711,Ada Lovelace,ada@example.org,Submitted,,10.00,Yes,\"Friday, 20 "
    "November\",-,\n"
    "Participant 4712,Grace Hopper,grace@example.org,Submitted,2.00,10.00,Yes,-,-,\n"
    "Participant 4713,Edsger Dijkstra,edsger@example.org,Submitted,9.00,10.00,No,-,-,\n";

Settings with_moodle_sheet(const std::string& text) {
  Settings settings;
  settings.sheet = table_of(text);
  settings.sheet_name = "worksheet.csv";
  return settings;
}

/// What Moodle would store: grades by "Participant <n>". The rules: the columns Identifier, Grade
/// and Last modified (grade) must be there; rows whose grade cannot be changed are passed over; an
/// empty grade is none.
std::map<std::string, double> import_worksheet(const std::string& text) {
  const base::CsvTable table = table_of(text);
  EXPECT_TRUE(table.column("Last modified (grade)"));
  const auto identifier = table.column("Identifier"), grade = table.column("Grade");
  EXPECT_TRUE(identifier && grade);
  std::map<std::string, double> grades;
  for (const auto& row : table.rows) {
    EXPECT_TRUE(row.at(*identifier).starts_with("Participant ")) << row.at(*identifier);
    if (row[*table.column("Grade can be changed")] != "Yes" || row[*grade].empty()) continue;
    const double value = std::stod(row[*grade]);
    EXPECT_LE(value, std::stod(row[*table.column("Maximum Grade")]));
    grades[row[*identifier]] = value;
  }
  return grades;
}

TEST(MoodleWorksheet, FillsInGradesByParticipantNumberAndByAddress) {
  const Export result =
      exported("moodle", {passed("4711"), failed("x")}, with_moodle_sheet(kWorksheet));
  EXPECT_THAT(import_worksheet(text_of(result, "moodle-worksheet.csv")),
              UnorderedElementsAre(Pair("Participant 4711", 10), Pair("Participant 4712", 2)));
  EXPECT_THAT(result.left_out, ElementsAre("x is not in worksheet.csv"));
  const Export by_address =
      exported("moodle", {passed("?", "", "grace@example.org")}, with_moodle_sheet(kWorksheet));
  EXPECT_THAT(import_worksheet(text_of(by_address, "moodle-worksheet.csv")),
              ElementsAre(Pair("Participant 4712", 10)));
}

TEST(MoodleWorksheet, ChangesNothingButGradeAndFeedback) {
  const base::CsvTable before = table_of(kWorksheet);
  const base::CsvTable after = table_of(text_of(
      exported("moodle", {failed("4711")}, with_moodle_sheet(kWorksheet)), "moodle-worksheet.csv"));
  EXPECT_EQ(after.header, before.header);
  for (std::size_t row = 0; row < before.rows.size(); ++row)
    for (std::size_t column = 0; column < before.header.size(); ++column) {
      const bool ours = row == 0 && (before.header[column] == "Grade" ||
                                     before.header[column] == "Feedback comments");
      EXPECT_EQ(after.rows[row][column] == before.rows[row][column], !ours)
          << before.header[column] << " of row " << row;
    }
}

TEST(MoodleWorksheet, LeavesALockedGradeAlone) {
  const Export result = exported("moodle", {passed("4713")}, with_moodle_sheet(kWorksheet));
  EXPECT_EQ(import_worksheet(text_of(result, "moodle-worksheet.csv")).count("Participant 4713"),
            0U);
  EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("cannot be changed")));
}

TEST(MoodleWorksheet, FeedbackIsHtmlWithoutTheStudentsMarkup) {
  const Export result = exported("moodle", {failed("4711", "<script>alert(1)</script>")},
                                 with_moodle_sheet(kWorksheet));
  const std::string text = text_of(result, "moodle-worksheet.csv");
  EXPECT_THAT(text, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
}

TEST(MoodleWorksheet, ScalesToTheWorksheetsMaximum) {
  const Export result = exported(
      "moodle", {failed("1")},
      with_moodle_sheet("Identifier,Grade,Maximum Grade,Grade can be changed,Last modified "
                        "(grade)\nParticipant 1,,100,Yes,-\n"));
  EXPECT_THAT(import_worksheet(text_of(result, "moodle-worksheet.csv")),
              ElementsAre(Pair("Participant 1", 40)));
}

TEST(MoodleWorksheet, FindsParticipantsWhomARosterCallsOtherwise) {
  course::Grade grade = passed("s001");
  grade.platform = "moodle";
  grade.platform_id = "4712";
  EXPECT_THAT(import_worksheet(text_of(exported("moodle", {grade}, with_moodle_sheet(kWorksheet)),
                                       "moodle-worksheet.csv")),
              ElementsAre(Pair("Participant 4712", 10)));
}

/// A grade with a wrong stage whose finding is a map of many lines, again in the test's message and
/// with its first line in the note.
course::Grade with_picture(std::size_t lines) {
  std::string picture = "first wrong: row 1";
  for (std::size_t line = 0; line < lines; ++line) picture += "\n  ..X..XX <&> line";
  course::Grade grade = failed("4711", picture);
  course::Finding finding;
  finding.kind = "failed-test";
  finding.test = "TellsRowsFromColumns";
  finding.text = picture;
  grade.result.stages[1].findings = {finding};
  grade.note = "not in the roster; stage 2: first wrong: row 1; 25.0 hours late";
  return grade;
}

TEST(MoodleFeedback, SaysEachFindingOnceAndKeepsPictures) {
  const base::CsvTable table =
      table_of(text_of(exported("moodle", {with_picture(3)}, with_moodle_sheet(kWorksheet)),
                       "moodle-worksheet.csv"));
  const std::string& cell = table.rows[0][*table.column("Feedback comments")];
  const auto first = cell.find("first wrong: row 1");
  ASSERT_NE(first, std::string::npos) << cell;
  EXPECT_EQ(cell.find("first wrong: row 1", first + 1), std::string::npos) << cell;
  EXPECT_THAT(cell, HasSubstr("<pre>first wrong: row 1\n  ..X..XX &lt;&amp;&gt; line\n"));
  EXPECT_THAT(cell, HasSubstr("not in the roster; 25.0 hours late"));
}

TEST(MoodleFeedback, FitsIntoASpreadsheetsCellAndEndsBetweenTags) {
  course::Grade grade = with_picture(5000);
  for (int more = 0; more < 18; ++more) grade.result.stages.push_back(grade.result.stages[1]);
  for (const bool sheet : {true, false}) {
    const Export result =
        exported("moodle", {grade}, sheet ? with_moodle_sheet(kWorksheet) : Settings());
    const base::CsvTable table = table_of(result.documents[0].text);
    const std::string& cell = table.rows[0].back();
    EXPECT_LE(cell.size(), 32000u);
    EXPECT_GT(cell.size(), 20000u);
    EXPECT_TRUE(cell.ends_with("more in the report")) << cell.substr(cell.size() - 60);
    std::size_t open = 0, closed = 0;
    for (std::size_t at = 0; (at = cell.find("<pre>", at)) != std::string::npos; ++at) ++open;
    for (std::size_t at = 0; (at = cell.find("</pre>", at)) != std::string::npos; ++at) ++closed;
    EXPECT_EQ(open, closed);
  }
}

TEST(MoodleWorksheet, RefusesSeveralLabsAndAnotherLanguage) {
  course::Grade other = passed("4712");
  other.lab = "04-reduction";
  EXPECT_THAT(refusal("moodle", {passed("4711"), other}, with_moodle_sheet(kWorksheet)),
              HasSubstr("grades of 2 labs"));
  EXPECT_THAT(refusal("moodle", {passed("1")}, with_moodle_sheet("ID,Bewertung\nTeilnehmer 1,\n")),
              HasSubstr("no columns Identifier and Grade"));
}

TEST(MoodleGradebook, HoldsAColumnOfGradesForEachLab) {
  course::Grade other = failed("s001");
  other.lab = "04-reduction";
  other.result.title = "Add up an array";
  const Export result = exported("moodle", {passed("s001", "Ada", "ada@example.org"), other});
  const base::CsvTable table = table_of(text_of(result, "moodle.csv"));
  ASSERT_TRUE(table.column("Transpose a matrix") && table.column("Add up an array"));
  EXPECT_EQ(table.rows.at(0)[*table.column("ID number")], "s001");
  EXPECT_EQ(table.rows.at(0)[*table.column("Email address")], "ada@example.org");
  EXPECT_EQ(table.rows.at(0)[*table.column("Transpose a matrix")], "10.00");
  EXPECT_EQ(table.rows.at(0)[*table.column("Add up an array")], "4.00");
}

TEST(MoodleGradebook, AWithheldScoreIsAnEmptyCell) {
  const Export result = exported("moodle", {suspicious("s001")});
  const base::CsvTable table = table_of(text_of(result, "moodle.csv"));
  EXPECT_EQ(table.rows.at(0)[*table.column("Transpose a matrix")], "");
  EXPECT_EQ(result.left_out.size(), 1U);
}

}  // namespace
}  // namespace membound::exchange
