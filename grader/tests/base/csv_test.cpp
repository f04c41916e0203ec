// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace membound::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CsvTable table_of(std::string_view text) {
  auto table = read_csv(text, "class.csv");
  EXPECT_TRUE(table) << base::to_string(table.error());
  return table ? *table : CsvTable{};
}

std::string error_of(std::string_view text) {
  const auto table = read_csv(text, "class.csv");
  return table ? "" : base::to_string(table.error());
}

TEST(CsvRead, SeparatesHeaderAndRows) {
  const CsvTable table = table_of("id,name\n1,Ada\n2,Grace\n");
  EXPECT_THAT(table.header, ElementsAre("id", "name"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", "Ada"), ElementsAre("2", "Grace")));
}

TEST(CsvRead, LeavesOutAByteOrderMark) {
  EXPECT_THAT(table_of("\xEF\xBB\xBFid\n1\n").header, ElementsAre("id"));
}

TEST(CsvRead, TakesSemicolonsAndTabs) {
  EXPECT_THAT(table_of("id;name\n1;Ada, Countess\n").rows,
              ElementsAre(ElementsAre("1", "Ada, Countess")));
  EXPECT_THAT(table_of("id\tname\n1\tAda\n").rows, ElementsAre(ElementsAre("1", "Ada")));
}

TEST(CsvRead, CountsDelimitersOnlyOutsideOfQuotes) {
  EXPECT_THAT(table_of("\"a;b;c\",name\n1,2\n").header, ElementsAre("a;b;c", "name"));
}

TEST(CsvRead, KeepsQuotesLineEndsAndSpacesInsideAField) {
  EXPECT_THAT(table_of("note\n\"He said \"\"no\"\"\nand left \"\n").rows,
              ElementsAre(ElementsAre("He said \"no\"\nand left ")));
}

TEST(CsvRead, AcceptsWindowsLineEndsAndALastLineWithoutOne) {
  EXPECT_THAT(table_of("id\r\n1\r\n2").rows, ElementsAre(ElementsAre("1"), ElementsAre("2")));
}

TEST(CsvRead, LeavesOutEmptyLinesAndFillsShortRows) {
  EXPECT_THAT(table_of("id,name\n\n1\n").rows, ElementsAre(ElementsAre("1", "")));
}

TEST(CsvRead, NamesTheRowThatIsTooLong) {
  EXPECT_THAT(error_of("id\n1\n2,3\n"), HasSubstr("row 2 has 2 fields"));
}

TEST(CsvRead, RefusesAnOpenQuoteZeroBytesAndNothing) {
  EXPECT_THAT(error_of("id\n\"1\n"), HasSubstr("quote"));
  EXPECT_THAT(error_of(std::string_view("i\0d\n", 4)), HasSubstr("zero byte"));
  EXPECT_THAT(error_of("\n\n"), HasSubstr("header"));
}

TEST(CsvColumn, IgnoresCaseAndSpacesAround) {
  const CsvTable table = table_of(" SIS User ID ,Name\n1,2\n");
  EXPECT_EQ(table.column("sis user id"), 0U);
  EXPECT_EQ(table.column("login"), std::nullopt);
}

TEST(CsvWrite, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(write_csv({{"a", "b"}, {{"1,5", "say \"x\""}}}, CsvReader::kProgram),
            "a,b\r\n\"1,5\",\"say \"\"x\"\"\"\r\n");
}

TEST(CsvWrite, DefusesFormulasForPeopleOnly) {
  const CsvTable table{{"name"}, {{"=cmd|'/c calc'!A1"}, {"@SUM(1)"}, {"Ada"}}};
  EXPECT_EQ(write_csv(table, CsvReader::kSpreadsheet),
            "name\r\n'=cmd|'/c calc'!A1\r\n'@SUM(1)\r\nAda\r\n");
  EXPECT_EQ(write_csv(table, CsvReader::kProgram),
            "name\r\n=cmd|'/c calc'!A1\r\n@SUM(1)\r\nAda\r\n");
}

TEST(CsvRoundTrip, AnyTableComesBack) {
  std::mt19937 random(7);
  const std::string_view letters = "ab,;\t\"'\n =+\xC3\xA9";
  for (int trial = 0; trial < 2000; ++trial) {
    CsvTable table{{"first", "second"}, {}};
    for (unsigned row = 0; row < 1 + random() % 4; ++row) {
      std::vector<std::string> fields = {"x", ""};  // a row of empty fields would be left out
      for (std::string& field : fields)
        for (unsigned i = 0; i < random() % 6; ++i) field += letters[random() % letters.size()];
      table.rows.push_back(fields);
    }
    const auto back = read_csv(write_csv(table, CsvReader::kProgram), "again.csv");
    ASSERT_TRUE(back) << base::to_string(back.error());
    EXPECT_EQ(back->rows, table.rows) << "trial " << trial;
  }
}

TEST(CsvFuzz, NoTextStopsTheReader) {
  std::mt19937 random(11);
  const std::string_view letters = ",;\"\r\n\tab";
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text;
    for (unsigned i = 0; i < random() % 40; ++i) text += letters[random() % letters.size()];
    const auto table = read_csv(text, "fuzz.csv");
    if (!table) continue;
    for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->header.size());
  }
}

}  // namespace
}  // namespace membound::base
