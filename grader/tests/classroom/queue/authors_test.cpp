// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work whose author is not known: said everywhere, never a silent zero, and found when a table
/// tells who is who, in whatever order the calls come.
#include <gmock/gmock.h>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kNamesakes =
    "id,name,email\ns01,Ada Lovelace,ada@x.org\ns08,Ana Gil,a1@x.org\ns09,Ana Gil,a2@x.org\n"
    "s10,Nobody Here,n@x.org\n";
constexpr const char* kParticipants =
    "Identifier,Full name,ID number,Email address\nParticipant 300,Ada Lovelace,s01,ada@x.org\n"
    "Participant 307,Ana Gil,s08,a1@x.org\nParticipant 308,Ana Gil,s09,a2@x.org\n";

class AuthorsOfRows : public BatchTest {
 protected:
  AuthorsOfRows() {
    fs::remove_all(folder_ / "in");
    for (const auto& [name, number] :
         {std::pair("Ada Lovelace", "300"), {"Ana Gil", "307"}, {"Ana Gil", "308"}})
      write_text(folder_ / "in" / (std::string(name) + "_" + number + "_assignsubmission_file_") /
                     "kernel.cu",
                 "__global__ void quick(int*);  // " + std::string(number) + "\n");
    request_.intake.roster = *intake::Roster::from_text(kNamesakes, "class.csv");
    request_.roster_text = kNamesakes;
  }
  void know_participants() {
    request_.intake.people = {*intake::read_people_table(kParticipants, "worksheet.csv")};
  }
  std::string file(const char* name) {
    const auto text = base::read_file(request_.out / name);
    return text ? *text : "";
  }
  static std::string students(const BatchSummary& summary) {
    std::string text;
    for (const course::Grade& one : summary.grades.grades)
      text += one.student + (one.verdict ? "" : "-") + (one.unmatched.empty() ? " " : "? ");
    return text;
  }
};

TEST_F(AuthorsOfRows, AreSaidInTheTablesWhereNobodyKnowsThem) {
  EXPECT_EQ(students(run()), "307? 308? s01 s08- s09- s10- ");
  EXPECT_THAT(file("course.csv"), HasSubstr("it may be s08, s09"));
  EXPECT_THAT(file("course.csv"), HasSubstr("\"may be 307, 308\""));
  EXPECT_THAT(file("grades.csv"), HasSubstr("work of an author who is not known may be"));
}

TEST_F(AuthorsOfRows, AreFoundByALaterTableWithoutGradingAnythingAnew) {
  run();
  ASSERT_EQ(runs_, 3);
  request_.intake.sources.clear();
  know_participants();
  EXPECT_EQ(students(run()), "s01 s08 s09 s10- ");
  EXPECT_EQ(runs_, 3);
  EXPECT_THAT(file("course.csv"), Not(HasSubstr("unmatched")));
}

TEST_F(AuthorsOfRows, DoNotDependOnWhenTheTableCame) {
  know_participants();
  run();
  const std::string early = file("grades.csv");
  fs::remove_all(request_.out);
  request_.intake.people.clear();
  run();
  know_participants();
  request_.intake.sources.clear();
  run();
  EXPECT_EQ(file("grades.csv"), early);
  // The table of an earlier call holds in later ones.
  request_.intake.people.clear();
  request_.intake.sources = {folder_ / "in"};
  run();
  EXPECT_EQ(file("grades.csv"), early);
}

TEST_F(AuthorsOfRows, KeepTheMarkThatTheirWorkGotBefore) {
  run();
  ASSERT_TRUE(mark_by_hand({request_.out, "", {{"307", "01-quick", 0, 7.25, "looked at it"}}}));
  request_.intake.sources.clear();
  know_participants();
  const auto summary = run();
  ASSERT_TRUE(grade(summary, "s08")->mark);
  EXPECT_EQ(grade(summary, "s08")->score, 7.25);
  EXPECT_FALSE(grade(summary, "s09")->mark);
}

TEST_F(AuthorsOfRows, NobodysPointsDependOnAnotherStudentOrAName) {
  know_participants();
  const auto points = [this](const std::string& student) {
    const auto summary = run();
    const course::Grade* const one = grade(summary, student);
    return one == nullptr ? std::optional<double>() : one->score;
  };
  const auto before = points("s01");
  fs::remove_all(request_.out);
  fs::remove_all(folder_ / "in" / "Ana Gil_307_assignsubmission_file_");
  EXPECT_EQ(points("s01"), before) << "without another student";
  fs::remove_all(request_.out);
  fs::rename(folder_ / "in" / "Ada Lovelace_300_assignsubmission_file_",
             folder_ / "in" / "Zz Top_300_assignsubmission_file_");
  EXPECT_EQ(points("s01"), before) << "under another name, with the same number";
}

/// A group of two, of whom one hands in.
class GroupRows : public BatchTest {
 protected:
  GroupRows() {
    fs::remove_all(folder_ / "in");
    write_text(folder_ / "in" / "a" / "kernel.cu", "__global__ void quick(int*);  // a\n");
    write_text(folder_ / "in" / "c" / "kernel.cu", "__global__ void quick(int*);  // c\n");
    request_.intake.roster =
        *intake::Roster::from_text("id,group,section\na,red,Mo\nb,red,Tu\nc,,Mo\n", "class.csv");
  }
};

TEST_F(GroupRows, OneTextIsGradedOnceAndEachMemberHasARow) {
  const auto summary = run();
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(grade(summary, "a")->score, grade(summary, "b")->score);
  EXPECT_EQ(grade(summary, "b")->group, "red");
  EXPECT_EQ(grade(summary, "b")->section, "Tu");
  EXPECT_THAT(grade(summary, "b")->note, HasSubstr("handed in by a for the group red"));
}

TEST_F(GroupRows, WorkWhoseAuthorIsFoundLaterIsTheGroupsAsIfItHadBeenKnownAtOnce) {
  for (const char* attempts : {"best", "latest"}) {
    for (const char* place : {"in", "out"}) fs::remove_all(folder_ / place);
    request_.intake.attempts = attempts == std::string("best") ? intake::AttemptPolicy::kBest
                                                               : intake::AttemptPolicy::kLatest;
    const auto hand_in = [this](const std::string& number, std::int64_t time) {
      write_text(folder_ / "in" / ("Somebody_" + number + "_assignsubmission_file_") / "kernel.cu",
                 "__global__ void quick(int*);  // " + number + "\n");
      request_.intake.times.push_back({{number}, "01-quick", 0, time, "moodle", number});
    };
    request_.intake.times.clear();
    hand_in("301", 1790000000);
    hand_in("302", 1790001000);
    hand_in("303", 1790002000);
    const auto known = *intake::read_people_table(
        "Identifier,Full name,ID number\nParticipant 301,Ana,a\nParticipant 302,Ben,b\n"
        "Participant 303,Cy,c\n",
        "worksheet.csv");
    request_.intake.sources = {folder_ / "in"};
    request_.intake.people = {known};
    run();
    const std::string early = csv();
    fs::remove_all(request_.out);
    request_.intake.people.clear();
    run();
    request_.intake.people = {known};
    request_.intake.sources.clear();
    const auto summary = run();
    EXPECT_EQ(csv(), early) << attempts;
    EXPECT_EQ(grade(summary, "a")->submission_sha256, grade(summary, "b")->submission_sha256);
    EXPECT_EQ(grade(summary, "a")->group, "red");
  }
}

TEST_F(GroupRows, AMarkIsForOneMemberAlone) {
  run();
  ASSERT_TRUE(mark_by_hand({request_.out, "", {{"b", "01-quick", 0, 9.5, "did not take part"}}}));
  const auto all = read_class(request_.out);
  ASSERT_TRUE(all);
  for (const course::Grade& one : all->grades) EXPECT_EQ(one.mark.has_value(), one.student == "b");
}

TEST_F(GroupRows, AnExtensionOfTheGroupOrOfOneSectionHoldsForThoseAlone) {
  request_.rules = intake::CourseRules();
  request_.rules->all.due = 1000;
  request_.rules->all.percent_per_day = 100;
  intake::Extension extension;
  extension.due = 4000000000;
  extension.section = "Tu";
  request_.rules->extensions = {extension};
  auto summary = run();
  EXPECT_GT(grade(summary, "a")->late_by_seconds, 0);
  EXPECT_EQ(grade(summary, "b")->late_by_seconds, 0);
  extension.section.clear();
  extension.group = "red";
  request_.rules->extensions = {extension};
  summary = run();
  EXPECT_EQ(grade(summary, "a")->late_by_seconds, 0);
  EXPECT_GT(grade(summary, "c")->late_by_seconds, 0);
}

}  // namespace
}  // namespace membound::queue
