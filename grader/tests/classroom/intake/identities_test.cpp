// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who is who: by id first, then by email, then by name, and never by a guess.
#include "grader/classroom/intake/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "grader/classroom/intake/intake.hpp"
#include "grader/tests/classroom/intake/archive_maker.hpp"

namespace membound::intake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRoster =
    "id,name,email,canvas_id,section\n"
    "s01,Ada Lovelace,ada@x.org,4701,A\n"
    "s08,José  García,jose@x.org,4708,A\n"
    "s09,Jose\u0301 Garci\u0301a,jose2@x.org,4709,B\n"
    "4702,Bob Roe,bob@x.org,4711,B\n"
    "s12,\"Doe, Jane\",Jane@X.org,,\n"
    "s13,Kim Park,,,\n";

constexpr const char* kWorksheet =
    "\xef\xbb\xbfIdentifier,Full name,ID number,Email address,Status\r\n"
    "Participant 300,Ada Lovelace,s01,ada@x.org,Submitted\r\n"
    "Participant 307,José  García,s08,jose@x.org,Submitted\r\n"
    "Participant 308,José García,s09,jose2@x.org,Submitted\r\n"
    "Participant 4702,Zoe Stranger,z99,zoe@x.org,Submitted\r\n"
    "Participant 311,Bob Roe,,BOB@x.org,Submitted\r\n"
    "Participant 312,Jane Doe,,,Submitted\r\n"
    "Participant 313,Kim Park,k1,kim1@x.org,Submitted\r\n"
    "Participant 314,Kim Park,k2,kim2@x.org,Submitted\r\n";

constexpr const char* kSubmissions = R"([
  {"user_id": 501, "user": {"id": 501, "sis_user_id": "s09", "name": "José García"}},
  {"user_id": 502, "user": {"id": 502, "login_id": "s08", "name": "J. García"}},
  {"user_id": 503, "user": {"id": 503, "name": "Jane Doe"}, "group": {"id": 7, "name": "Red"}},
  {"user_id": 504, "user": {"id": 504, "sis_user_id": "s01", "email": "bob@x.org", "name": "A"}},
  {"user_id": 505, "user": "nobody"}, 17])";

Roster roster_with(const std::vector<const char*>& tables,
                   std::vector<std::string>* said = nullptr) {
  const auto roster = Roster::from_text(kRoster, "class.csv");
  EXPECT_TRUE(roster);
  std::vector<PeopleTable> all;
  for (const char* text : tables) {
    auto table = read_people_table(text, "in/people" + std::to_string(all.size()) + ".csv");
    EXPECT_TRUE(table);
    if (table) all.push_back(*std::move(table));
  }
  std::vector<std::string> notes;
  Roster known = joined(*roster, all, notes);
  if (said != nullptr) *said = notes;
  return known;
}

/// "s01" for whom it is, "? s08 s09" where it may be several.
std::string who(const Roster& roster, const Author& author) {
  const Match match = match_of(author, roster);
  if (match.row != nullptr) return match.row->id;
  std::string text = "?";
  for (const std::string& id : match.may_be) text += " " + id;
  return text;
}

struct Case {
  const char* what;
  std::vector<const char*> tables;
  Author author;
  const char* expected;
};

TEST(Identities, AreThoseThatTheTablesSay) {
  const std::vector<Case> cases = {
      {"two of one name and nothing else", {}, {"moodle", "307", {"José García"}}, "? s08 s09"},
      {"the worksheet says the first", {kWorksheet}, {"moodle", "307", {"José García"}}, "s08"},
      {"the worksheet says the second", {kWorksheet}, {"moodle", "308", {"José García"}}, "s09"},
      {"Canvas's record by SIS id", {kSubmissions}, {"canvas", "501", {"garciajose"}}, "s09"},
      {"Canvas's record by login", {kSubmissions}, {"canvas", "502", {"garciaj"}}, "s08"},
      {"Canvas's record by name", {kSubmissions}, {"canvas", "503", {}}, "s12"},
      {"the id goes before the email", {kSubmissions}, {"canvas", "504", {}}, "s01"},
      {"a column of the roster", {}, {"canvas", "4711", {"roebob"}}, "4702"},
      {"a number that is another's id", {}, {"moodle", "4702", {"Zoe Stranger"}}, "?"},
      {"a number that is its own id", {}, {"canvas", "4702", {"roebob"}}, "4702"},
      {"an id goes before another's number",
       {kWorksheet},
       {"moodle", "4702", {"Zoe Stranger"}},
       "?"},
      {"the email in other letters", {kWorksheet}, {"moodle", "311", {"R. Roe"}}, "4702"},
      {"last name first", {kWorksheet}, {"moodle", "312", {"J. D."}}, "s12"},
      {"two of one name, of whom the roster knows one", {kWorksheet}, {"moodle", "313", {}}, "?"},
      {"the number of one platform says nothing of another",
       {kWorksheet},
       {"canvas", "300", {}},
       "?"},
      {"several files", {kWorksheet, kSubmissions}, {"canvas", "501", {}}, "s09"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(who(roster_with(one.tables), one.author), one.expected) << one.what;
}

TEST(Identities, WhatContradictsItselfIsSaid) {
  std::vector<std::string> notes;
  roster_with({kSubmissions}, &notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("the id of s01 and the email of 4702; the id counts")));
  const Roster roster = roster_with({"id,SIS User ID,login,name\n9,s08,s09,X\n"}, &notes);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("mean both s08 and s09; nobody is matched")));
  EXPECT_EQ(who(roster, {"canvas", "9", {}}), "?");
}

TEST(Identities, DoNotDependOnTheOrderOfFilesAndRows) {
  std::vector<PeopleTable> tables = {*read_people_table(kWorksheet, "a.csv"),
                                     *read_people_table(kSubmissions, "b.json")};
  const auto roster = Roster::from_text(kRoster, "class.csv");
  std::mt19937 random(20261127);
  const auto numbers = [&] {
    std::vector<std::string> notes;
    std::string text;
    const Roster known = joined(*roster, tables, notes);
    for (const char* platform : {"canvas", "moodle"})
      for (int number = 300; number < 600; ++number)
        text += who(known, {platform, std::to_string(number), {}}) + ",";
    return text;
  };
  const std::string before = numbers();
  for (int round = 0; round < 20; ++round) {
    std::shuffle(tables.begin(), tables.end(), random);
    for (PeopleTable& table : tables) std::shuffle(table.rows.begin(), table.rows.end(), random);
    EXPECT_EQ(numbers(), before) << "round " << round;
  }
}

/// What a class hands in, and whose it is.
class AuthorsTest : public testing::Test {
 protected:
  AuthorsTest() {
    for (const char* id : {"01-reverse-array", "03-transpose"}) {
      course::Lab lab;
      lab.id = id;
      lab.stages.resize(1);
      lab.stages[0].kernel = lab.id == "03-transpose" ? "transpose_tiled" : "reverse_all";
      request_.labs.push_back(lab);
    }
    request_.out = out_.path();
    request_.sources = {in_.path()};
    request_.roster = *Roster::from_text(kRoster, "class.csv");
  }
  void hand_in(const std::string& folder) {
    in_.write(folder + "/kernel.cu", "__global__ void reverse_all(int*);\n// " + folder + "\n");
  }
  /// "s08" for whom each is, with its reason where nobody is meant.
  std::vector<std::string> authors() {
    const auto intake = take_in(request_);
    EXPECT_TRUE(intake);
    std::vector<std::string> all;
    for (const Submission& one : intake->submissions)
      all.push_back(one.student + (one.unmatched.empty() ? "" : ": " + one.unmatched));
    return all;
  }

  TemporaryFolder in_, out_;
  IntakeRequest request_;
};

TEST_F(AuthorsTest, TwoOfOneNameAreNotGuessedAndTheWorksheetTellsThemApart) {
  for (const char* folder : {"Ada Lovelace_300", "José  García_307", "José García_308"})
    hand_in(std::string(folder) + "_assignsubmission_file_");
  const std::string why =
      ": not matched with the roster: it may be s08, s09, and a name alone does not say who";
  EXPECT_THAT(authors(), ElementsAre("307" + why, "308" + why, "s01"));
  request_.people = {*read_people_table(kWorksheet, "worksheet.csv")};
  EXPECT_THAT(authors(), ElementsAre("s01", "s08", "s09"));
}

TEST_F(AuthorsTest, TwoNumbersOfOneNameAreTwoPeopleOfWhomTheRosterKnowsOne) {
  for (const char* number : {"313", "314"})
    hand_in(std::string("Kim Park_") + number + "_assignsubmission_file_");
  EXPECT_THAT(authors(), ElementsAre(HasSubstr("313: not matched with the roster: it may be s13"),
                                     HasSubstr("314: not matched")));
}

TEST_F(AuthorsTest, WhereMoodleWritesTheGroupBeforeTheName) {
  hand_in("Team-1-Ada Lovelace_300_assignsubmission_file_");
  EXPECT_THAT(authors(), ElementsAre("s01"));
}

TEST_F(AuthorsTest, MoodlesAttemptsLieInFoldersToo) {
  for (const char* attempt : {"attempt-1", "attempt-2"})
    hand_in(std::string("Ada Lovelace_300_assignsubmission_file_/") + attempt);
  request_.attempts = AttemptPolicy::kBest;
  EXPECT_THAT(authors(), ElementsAre("s01", "s01"));
}

TEST_F(AuthorsTest, ATimeOfAParticipantIsNoTimeOfTheStudentWhoseIdIsThatNumber) {
  hand_in("4702");  // Bob Roe's id, and Zoe Stranger's number in Moodle
  request_.layout = Layout::kPlain;
  request_.lab = "01-reverse-array";
  auto times = read_time_records(
      "Identifier,Full name,Last modified (submission)\n"
      "Participant 4702,Zoe Stranger,\"Friday, 20 November 2026, 9:37 PM\"\n",
      "worksheet.csv", request_.lab, request_.labs);
  ASSERT_TRUE(times);
  request_.times = *times;
  const auto intake = take_in(request_);
  ASSERT_TRUE(intake);
  EXPECT_EQ(intake->submissions.at(0).student, "4702");
  EXPECT_FALSE(intake->submissions.at(0).time_is_record);
}

TEST(Roster, NamesWithControlAndDirectionCharactersAreVisible) {
  const auto roster = Roster::from_text(
      "id,name,email\ns1,\"Esc \x1b[2J\x1b]0;x\x07 \u202egnp <b>\",\"a\x1b@x.org\"\n"
      "s2,\"new\nline\",\n",
      "class.csv");
  ASSERT_TRUE(roster);
  EXPECT_EQ(roster->rows()[0].name, "Esc \ufffd[2J\ufffd]0;x\ufffd \ufffdgnp <b>");
  EXPECT_EQ(roster->rows()[0].email, "a\ufffd@x.org");
  EXPECT_EQ(roster->rows()[1].name, "new\ufffdline");
}

}  // namespace
}  // namespace membound::intake
