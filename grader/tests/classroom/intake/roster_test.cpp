// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/roster.hpp"

#include <gtest/gtest.h>

#include <random>

namespace membound::intake {
namespace {

Roster roster_of(const std::string& text) {
  auto roster = Roster::from_text(text, "roster.csv");
  EXPECT_TRUE(roster) << (roster ? "" : base::to_string(roster.error()));
  return roster ? *roster : Roster();
}

TEST(Roster, ReadsIdNameAndEmailInAnyOrder) {
  const Roster roster = roster_of(
      "\xef\xbb\xbf"
      "Email,Name,ID\nj@x.org,Jane Doe,s1\n");
  ASSERT_EQ(roster.rows().size(), 1u);
  EXPECT_EQ(roster.rows()[0].id, "s1");
  EXPECT_EQ(roster.rows()[0].name, "Jane Doe");
  EXPECT_EQ(roster.rows()[0].email, "j@x.org");
}

TEST(Roster, ReadsACanvasGradebook) {
  const Roster roster =
      roster_of("Student,ID,SIS User ID,SIS Login ID,Section\n\"Doe, Jane\",12345,u77,jdoe,A\n");
  ASSERT_NE(roster.find("12345"), nullptr);
  EXPECT_EQ(roster.find("jdoe"), roster.find("12345"));
  EXPECT_EQ(roster.find_alike("doejane"), roster.find("12345"));
}

TEST(Roster, ReadsAMoodleWorksheet) {
  const Roster roster = roster_of(
      "Identifier,Full name,Email address,Status\nParticipant 123,Jane Doe,j@x.org,Submitted\n");
  ASSERT_NE(roster.find("123"), nullptr);
  EXPECT_EQ(roster.find("123")->name, "Jane Doe");
}

TEST(Roster, ReadsAGitHubClassroomRoster) {
  const Roster roster = roster_of(
      "\"identifier\",\"github_username\",\"github_id\",\"name\"\n\"s1\",\"octo\",\"9\",\"\"\n");
  ASSERT_NE(roster.find("octo"), nullptr);
  EXPECT_EQ(roster.find("octo")->email, "");
}

TEST(Roster, JoinsFirstAndLastName) {
  EXPECT_EQ(roster_of("First Name,Last Name,SID\nJane,Doe,7\n").rows()[0].name, "Jane Doe");
}

TEST(Roster, EmailServesAsIdWhereThereIsNone) {
  EXPECT_EQ(roster_of("name,email\nJane,j@x.org\n").rows()[0].id, "j@x.org");
}

TEST(Roster, RowsWithoutIdAreLeftOut) {
  EXPECT_EQ(roster_of("id,name\n,Points Possible\ns1,Jane\n").rows().size(), 1u);
}

TEST(Roster, ReadsAHeaderOfAnyLength) {
  const std::string long_one = "group " + std::string(1'000'000, 'x');
  EXPECT_EQ(roster_of("id," + long_one + "\ns1,a\n").rows().size(), 1u);
}

TEST(Roster, WithoutAnIdColumnItIsRefused) {
  const auto roster = Roster::from_text("colour,size\nred,1\n", "roster.csv");
  ASSERT_FALSE(roster);
  EXPECT_EQ(roster.error().where, "roster.csv");
}

TEST(Roster, TwoStudentsOfOneIdAreRefused) {
  EXPECT_FALSE(Roster::from_text("id\nalice\nAlice\n", "roster.csv"));
}

TEST(Roster, FindsOthersByNameInAnyOrderAndCase) {
  const Roster roster = roster_of("id,name\ns1,Zo\xc3\xab Li\ns2,Bob Roe\n");
  EXPECT_EQ(roster.find_alike("li, zoe\xcc\x88"), roster.find("s1"));
  EXPECT_EQ(roster.find_alike("Roe_Bob"), roster.find("s2"));
  EXPECT_EQ(roster.find_alike("Bob"), nullptr);
}

TEST(Roster, ANameOfTwoStudentsMeansNeither) {
  EXPECT_EQ(roster_of("id,name\ns1,Jane Doe\ns2,Jane Doe\n").find_alike("Jane Doe"), nullptr);
}

// Any bytes give a roster or an error.
TEST(Roster, AnyBytesAreReadOrRefused) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? "id,name\n" : "";
    for (std::size_t i = random() % 60; i > 0; --i)
      text += "\",;\n\r\tidx\xff\xc3\0="[random() % 14];
    const auto roster = Roster::from_text(text, "roster.csv");
    if (!roster) continue;
    for (const RosterRow& row : roster->rows()) {
      EXPECT_FALSE(row.id.empty());
      EXPECT_EQ(roster->find(row.id), &row);
    }
  }
}

}  // namespace
}  // namespace membound::intake
