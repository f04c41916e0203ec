// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whose a row of the platform's table is: by number, id, email and name in this order, and never
/// two students'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/tests/classroom/exchange/grades.hpp"

namespace membound::exchange {
namespace {

course::Grade from_moodle(const std::string& student, const std::string& number,
                          const std::string& name = "") {
  course::Grade grade = passed(student, name);
  grade.platform = "moodle";
  grade.platform_id = number;
  return grade;
}

struct SheetCase {
  const char* what;
  std::vector<course::Grade> grades;
  std::string expected;  ///< "300 10.00": rows with a grade
  std::size_t unmatched = 0;
  std::map<std::string, std::vector<std::string>> numbers = {};
};

TEST(SheetRows, AreOneStudentsEach) {
  const std::vector<SheetCase> cases = {
      {"by number before the id that is another's", {from_moodle("301", "300")}, "300 10.00"},
      {"work before nothing of the same person",
       {missing("s08"), from_moodle("307", "307")},
       "307 10.00"},
      {"in any order", {from_moodle("307", "307"), missing("s08")}, "307 10.00"},
      {"the number before a name",
       {passed("?", "Ana Gil"), from_moodle("x", "307")},
       "307 10.00",
       1},
      {"a name that two have is nobody's", {passed("?", "Kim Park")}, "", 1},
      {"an id that is a number, with another's name", {passed("300", "Somebody Else")}, "", 1},
      {"an id that is a number, with its name", {passed("300", "Ada Lovelace")}, "300 10.00"},
      {"two works for one row", {passed("?1", "Ana Gil"), passed("?2", "Ana Gil")}, "", 2},
      {"the number that a table told",
       {passed("k2", "Kim Park")},
       "312 10.00",
       0,
       {{"k2", {"312"}}}},
      {"nothing handed in is zero", {missing("s08")}, "307 0.00"},
      {"who is in no row and handed in nothing is no loss", {missing("s99")}, ""},
  };
  for (const SheetCase& one : cases) {
    Settings settings;
    settings.sheet = table_of(
        "Identifier,Full name,ID number,Grade,Maximum Grade\nParticipant 300,Ada Lovelace,s01,,10\n"
        "Participant 301,Bob Roe,s02,,10\nParticipant 307,Ana Gil,s08,,10\n"
        "Participant 311,Kim Park,,,10\nParticipant 312,Kim Park,,,10\n");
    settings.sheet_name = "worksheet.csv";
    settings.numbers = one.numbers;
    const Export result = exported("moodle", one.grades, settings);
    std::string found;
    for (const auto& row : table_of(text_of(result, "moodle-worksheet.csv")).rows)
      if (!row[3].empty()) found += (found.empty() ? "" : ", ") + row[0].substr(12) + " " + row[3];
    EXPECT_EQ(found, one.expected) << one.what;
    EXPECT_EQ(result.unmatched.size(), one.unmatched) << one.what;
  }
}

TEST(SheetRows, AnIdOfTheSchoolIsNoNumberOfCanvas) {
  Settings settings;
  settings.sheet = table_of(
      "Student,ID,SIS User ID,Section,Transpose a matrix "
      "(1)\nBob,4702,4811,A,\nAda,4701,4702,A,\n");
  settings.sheet_name = "gradebook.csv";
  const Export result = exported("canvas", {passed("4702", "Ada")}, settings);
  const auto rows = table_of(text_of(result, "canvas.csv")).rows;
  EXPECT_EQ(rows.at(0).back(), "");
  EXPECT_EQ(rows.at(1).back(), "10.00");
}

}  // namespace
}  // namespace membound::exchange
