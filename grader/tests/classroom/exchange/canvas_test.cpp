// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Canvas file against Canvas's own rules of import, written down here a second time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "grader/tests/classroom/exchange/grades.hpp"

namespace membound::exchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

struct CanvasPerson {
  std::string id, sis_id, login, name;
};

/// What Canvas would store: points by the person's ID, of one assignment. The rules: "Student" in
/// the first title, "ID" in the second, "Section" ends the student's columns; a row "Points
/// Possible" is none of a person; people are found by ID, then SIS id, then login, then name; an
/// empty cell and one that says "(read only)" change nothing.
class Canvas {
 public:
  explicit Canvas(std::vector<CanvasPerson> people) : people_(std::move(people)) {}

  std::map<std::string, double> import(const std::string& text, const std::string& assignment) {
    const base::CsvTable table = table_of(text);
    EXPECT_THAT(table.header.at(0), HasSubstr("Student"));
    EXPECT_THAT(table.header.at(1), HasSubstr("ID"));
    EXPECT_TRUE(table.column("Section")) << text;
    const auto column = table.column(assignment);
    EXPECT_TRUE(column) << text;
    EXPECT_GT(*column, *table.column("Section"));
    std::map<std::string, double> points;
    for (const auto& row : table.rows) {
      const std::string& cell = row.at(*column);
      if (row[0].find("Points Possible") != std::string::npos) {
        points_possible_ = cell;
        continue;
      }
      if (cell.empty() || cell.find("read only") != std::string::npos) continue;
      points[find(table, row)] = std::stod(cell);
    }
    return points;
  }

  std::string points_possible() const { return points_possible_; }

 private:
  std::string find(const base::CsvTable& table, const std::vector<std::string>& row) const {
    const auto cell = [&](const char* title) {
      const auto column = table.column(title);
      return column ? row[*column] : std::string();
    };
    for (const CanvasPerson& p : people_)
      if (!cell("ID").empty() && p.id == cell("ID")) return p.id;
    for (const CanvasPerson& p : people_)
      if (!cell("SIS User ID").empty() && p.sis_id == cell("SIS User ID")) return p.id;
    for (const CanvasPerson& p : people_)
      if (!cell("SIS Login ID").empty() && p.login == cell("SIS Login ID")) return p.id;
    for (const CanvasPerson& p : people_)
      if (p.name == cell("Student")) return p.id;
    return "nobody";
  }

  std::vector<CanvasPerson> people_;
  std::string points_possible_;
};

Canvas two_people() {
  return Canvas({{"11", "s001", "ada", "Lovelace, Ada"}, {"12", "s002", "grace", "Hopper, Grace"}});
}

constexpr const char* kGradebook =
    "Student,ID,SIS User ID,SIS Login ID,Section,Transpose a matrix (4711),Current Score\r\n"
    "    Points Possible,,,,,10.00,(read only)\r\n"
    "\"Lovelace, Ada\",11,s001,ada,Monday,3.00,30\r\n"
    "\"Hopper, Grace\",12,s002,grace,Monday,,\r\n";

Settings with_sheet(const std::string& text) {
  Settings settings;
  settings.sheet = table_of(text);
  settings.sheet_name = "gradebook.csv";
  return settings;
}

TEST(CanvasExport, WithoutAGradebookNamesPeopleByTheirSisId) {
  const Export result = exported("canvas", {passed("s001"), failed("s002")});
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix"),
              UnorderedElementsAre(Pair("11", 10), Pair("12", 4)));
  EXPECT_EQ(canvas.points_possible(), "10.00");
}

TEST(CanvasExport, FillsTheColumnOfTheAssignmentAndNoOther) {
  const Export result =
      exported("canvas", {passed("s001"), failed("s002")}, with_sheet(kGradebook));
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix (4711)"),
              UnorderedElementsAre(Pair("11", 10), Pair("12", 4)));
  EXPECT_FALSE(table_of(text_of(result, "canvas.csv")).column("Current Score"));
  EXPECT_THAT(result.left_out, IsEmpty());
}

TEST(CanvasExport, FindsPeopleByAnyIdentity) {
  for (const auto& grade : {passed("11"), passed("s001"), passed("ada"),
                            passed("?", "Lovelace, Ada"), passed("?", "", "ada")}) {
    const Export result = exported("canvas", {grade}, with_sheet(kGradebook));
    Canvas canvas = two_people();
    EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix (4711)"),
                ElementsAre(Pair("11", 10)));
  }
}

TEST(CanvasExport, SaysWhoIsNotInTheGradebook) {
  const Export result = exported("canvas", {passed("s999")}, with_sheet(kGradebook));
  EXPECT_THAT(result.left_out, ElementsAre("s999 is not in gradebook.csv"));
}

TEST(CanvasExport, ANameThatTwoShareMatchesNobody) {
  const std::string gradebook =
      "Student,ID,Section,Transpose a matrix (4711)\n\"Kim\",11,A,\n\"Kim\",12,A,\n";
  const Export result = exported("canvas", {passed("?", "Kim")}, with_sheet(gradebook));
  EXPECT_EQ(result.left_out.size(), 1U);
}

TEST(CanvasExport, AWithheldScoreChangesNothingThere) {
  const Export result =
      exported("canvas", {suspicious("s001"), failed("s002")}, with_sheet(kGradebook));
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix (4711)"),
              ElementsAre(Pair("12", 4)));
  EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("SUSPICIOUS, the score is withheld")));
}

TEST(CanvasExport, NothingSubmittedIsZero) {
  const Export result = exported("canvas", {missing("s001")}, with_sheet(kGradebook));
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix (4711)"),
              ElementsAre(Pair("11", 0)));
}

TEST(CanvasExport, LeavesReadOnlyCellsAlone) {
  const std::string gradebook =
      "Student,ID,Section,Transpose a matrix (4711)\nAda,11,A,(read only)\n";
  const Export result = exported("canvas", {passed("11")}, with_sheet(gradebook));
  EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("read only")));
}

TEST(CanvasExport, ScalesToTheGradebooksMaximum) {
  const std::string gradebook =
      "Student,ID,Section,Transpose a matrix (4711)\n    Points Possible,,,100\nAda,11,A,\n";
  const Export result = exported("canvas", {failed("11")}, with_sheet(gradebook));
  Canvas canvas({{"11", "", "", "Ada"}});
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix (4711)"),
              ElementsAre(Pair("11", 40)));
  EXPECT_EQ(canvas.points_possible(), "100");
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("points of 10.00 are written as points of 100")));
}

TEST(CanvasExport, ScalesToAnyMaximumThatIsAskedFor) {
  Settings settings;
  settings.maximum = 25;
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(exported("canvas", {failed("s001")}, settings), "canvas.csv"),
                            "Transpose a matrix"),
              ElementsAre(Pair("11", 10)));
  EXPECT_EQ(canvas.points_possible(), "25.00");
  settings = with_sheet(kGradebook);
  settings.maximum = 25;
  EXPECT_THAT(refusal("canvas", {passed("s001")}, settings), HasSubstr("as --maximum says"));
}

TEST(CanvasExport, ACanvasNumberStandsInCanvassColumnWithoutASheetToo) {
  course::Grade by_number = passed("11"), by_roster = failed("s002");
  by_number.platform = by_roster.platform = "canvas";
  by_number.platform_id = "11";
  by_roster.platform_id = "12";
  const Export result = exported("canvas", {by_number, by_roster});
  const base::CsvTable table = table_of(text_of(result, "canvas.csv"));
  EXPECT_EQ(table.rows[1][*table.column("ID")], "11");
  EXPECT_EQ(table.rows[1][*table.column("SIS User ID")], "");
  EXPECT_EQ(table.rows[2][*table.column("SIS User ID")], "s002");
  Canvas canvas = two_people();
  EXPECT_THAT(canvas.import(text_of(result, "canvas.csv"), "Transpose a matrix"),
              UnorderedElementsAre(Pair("11", 10), Pair("12", 4)));
}

TEST(CanvasExport, RefusesASheetOfAnotherKind) {
  EXPECT_THAT(refusal("canvas", {passed("11")}, with_sheet("a,b\n1,2\n")),
              HasSubstr("no columns Student and Section"));
}

TEST(CanvasExport, SaysWhenCanvasWillMakeANewAssignment) {
  Settings settings = with_sheet(kGradebook);
  settings.assignment = "Lab 3";
  EXPECT_THAT(exported("canvas", {passed("11")}, settings).left_out,
              ElementsAre(HasSubstr("no assignment \"Lab 3\"")));
}

}  // namespace
}  // namespace membound::exchange
