// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One results folder for a course: what a call replaces and what it leaves alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using course::GradeVerdict;
using testing::HasSubstr;

/// Two labs; alice and bob hand in both, each lab in a folder of its own that a test may grade.
class CourseCalls : public testing::Test {
 protected:
  CourseCalls() {
    std::string pattern = (fs::temp_directory_path() / "membound-course-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, 0);
    course_ = fake_course(folder_);
    add_fake_lab(folder_, "02-other", course_);
    request_ = fake_batch(folder_, course_, folder_ / "out");
    request_.grade_one = [this](const OneRequest& one) {
      ++runs_;
      return fake_grade(one);
    };
    for (const char* student : {"alice", "bob"})
      for (const char* lab : {"quick", "other"}) hands_in(lab, student, lab, "first");
  }
  ~CourseCalls() override { fs::remove_all(folder_); }

  void hands_in(const std::string& where, const std::string& student, const std::string& lab,
                const std::string& text) {
    write_text(folder_ / where / student / "kernel.cu",
               "__global__ void " + lab + "(int*);  // " + text + " of " + student + "\n");
  }
  /// Grades what lies there; "student lab#attempt" for each row afterwards.
  std::string grade(const std::string& where, const std::string& lab = "") {
    request_.intake.sources = {folder_ / where};
    request_.intake.lab.reset();
    if (!lab.empty()) request_.intake.lab = lab;
    runs_ = 0;
    const auto summary = run_batch(request_);
    if (!summary) return base::to_string(summary.error());
    EXPECT_EQ(ledger::verify(request_.out)->problems, std::vector<std::string>());
    std::string text;
    for (const course::Grade& one : summary->grades.grades)
      text += (text.empty() ? "" : ", ") + one.student + " " + one.lab + "#" +
              std::to_string(one.attempt);
    return text;
  }
  std::vector<course::Grade> grades() {
    auto all = read_class(request_.out);
    return all ? all->grades : std::vector<course::Grade>();
  }

  fs::path folder_;
  course::Course course_;
  BatchRequest request_;
  int runs_ = 0;
};

constexpr const char* kAll = "alice 01-quick#1, alice 02-other#1, bob 01-quick#1, bob 02-other#1";

TEST_F(CourseCalls, ASecondLabJoinsTheFirst) {
  EXPECT_EQ(grade("quick", "01-quick"), "alice 01-quick#1, bob 01-quick#1");
  EXPECT_EQ(grade("other", "02-other"), kAll);
  EXPECT_EQ(runs_, 2);
}

TEST_F(CourseCalls, GradingOneLabAgainDropsNoOtherRow) {
  for (const char* lab : {"quick", "other"})
    for (const char* student : {"alice", "bob"})
      hands_in("all", student + std::string("/") + lab, lab, "first");
  EXPECT_EQ(grade("all"), kAll);
  request_.rules_now.due = 1000;
  EXPECT_EQ(grade("all", "01-quick"), kAll);
  EXPECT_EQ(runs_, 0);
  for (const course::Grade& one : grades())
    EXPECT_EQ(one.late_by_seconds > 0, one.lab == "01-quick") << one.student << one.lab;
}

TEST_F(CourseCalls, WhatThePlatformRecordedOfATextHoldsInACallThatIsNotToldSo) {
  request_.intake.times = {{.words = {"alice"}, .lab = "01-quick", .time = 1000}};
  grade("quick");
  request_.intake.times.clear();
  grade("quick");
  EXPECT_EQ(grades()[0].submitted_at, intake::utc_text(1000));
  EXPECT_EQ(grades()[0].time_from, "record");
  EXPECT_EQ(grades()[1].time_from, "file");
  hands_in("quick", "alice", "quick", "second");
  grade("quick");
  EXPECT_EQ(grades()[0].time_from, "file") << "of another text nothing is recorded";
}

TEST_F(CourseCalls, ARosterIsKeptForLaterCalls) {
  request_.roster_text = "id\nalice\nbob\n";
  grade("quick");
  request_.roster_text.reset();
  grade("other");
  const auto kept = base::read_file(kept_roster(request_.out));
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, "id\nalice\nbob\n");
}

TEST_F(CourseCalls, AWrongCallMakesNoFolder) {
  EXPECT_THAT(grade("nowhere"), HasSubstr("No such file"));
  request_.intake.sources.clear();
  const auto resumed = run_batch(request_);
  ASSERT_FALSE(resumed);
  EXPECT_THAT(base::to_string(resumed.error()), HasSubstr("no batch to go on with"));
  EXPECT_FALSE(fs::exists(request_.out));
}

TEST_F(CourseCalls, AFewWhoComeLaterReplaceTheirOwnRowsAlone) {
  grade("quick");
  hands_in("later", "bob", "quick", "second");
  EXPECT_EQ(grade("later"), "alice 01-quick#1, bob 01-quick#1");
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(grades()[1].origin, HasSubstr("later/bob"));
}

TEST_F(CourseCalls, AnOlderExportThatComesLaterBringsNothingBackWhereTheLatestCounts) {
  const auto came = [this](std::int64_t alice, std::int64_t bob) {
    request_.intake.times = {{.words = {"alice"}, .lab = "01-quick", .time = alice},
                             {.words = {"bob"}, .lab = "01-quick", .time = bob}};
  };
  hands_in("newer", "bob", "quick", "second");
  came(1000, 2000);
  grade("newer", "01-quick");
  came(1000, 1500);
  grade("quick", "01-quick");
  EXPECT_EQ(grades()[0].submitted_at, intake::utc_text(1000)) << "alice is there alone";
  EXPECT_EQ(grades()[1].submitted_at, intake::utc_text(2000));
  EXPECT_EQ(runs_, 1) << "nothing that does not count is graded";
}

TEST_F(CourseCalls, WhatLeftTheFolderLeavesTheTable) {
  grade("quick");
  grade("other");
  fs::remove_all(folder_ / "quick" / "bob");
  EXPECT_EQ(grade("quick"), "alice 01-quick#1, alice 02-other#1, bob 02-other#1");
}

TEST_F(CourseCalls, WhereTheBestCountsEarlierCallsAreAttempts) {
  request_.rules = intake::CourseRules();
  request_.rules->best_attempt = true;
  grade("quick");
  const double before = *grades()[0].score;
  hands_in("again", "alice", "quick", "second");
  grade("again");
  grade("again");  // the same call again is no further attempt
  const auto plan = read_plan(request_.out);
  ASSERT_TRUE(plan && *plan);
  EXPECT_EQ(std::count_if((*plan)->rows.begin(), (*plan)->rows.end(),
                          [](const Row& row) { return row.student == "alice"; }),
            2);
  EXPECT_GE(*grades()[0].score, before);
}

TEST_F(CourseCalls, AnEmptyFolderHasARowWithoutARoster) {
  fs::create_directories(folder_ / "quick" / "carol");
  EXPECT_EQ(grade("quick"), "alice 01-quick#1, bob 01-quick#1, carol 01-quick#0");
  EXPECT_EQ(grades()[2].score, 0);
  EXPECT_EQ(grades()[2].note, "nothing submitted: the folder is empty");
  hands_in("later", "carol", "quick", "at last");
  EXPECT_EQ(grade("later"), "alice 01-quick#1, bob 01-quick#1, carol 01-quick#1");
}

TEST_F(CourseCalls, ALabThatWasChangedIsGradedAnewWithoutTouchingOthers) {
  grade("quick");
  grade("other");
  write_text(folder_ / "root" / "labs" / "02-other" / "lab.json", "other bars");
  EXPECT_EQ(grade("quick"), kAll);
  EXPECT_EQ(runs_, 0);
  hands_in("later", "bob", "other", "second");
  EXPECT_EQ(grade("later"), kAll);
  EXPECT_EQ(runs_, 2) << "alice's, under the lab as it is now, and bob's";
}

TEST_F(CourseCalls, EverybodyIsRegradedAndInOneLabIfThatIsSaid) {
  grade("quick");
  grade("other");
  request_.intake.sources.clear();
  request_.regrade = {"all"};
  runs_ = 0;
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(runs_, 4);
  request_.intake.lab = "02-other";
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(runs_, 6);
}

TEST_F(CourseCalls, GoingOnTriesAgainWhatFailedByOurOwnFault) {
  request_.grade_one = [](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    if (one.lab->id == "02-other")
      outcome.grade.end(GradeVerdict::kInfraError, "no memory", *one.lab);
    return outcome;
  };
  grade("other");
  const auto failed = [this] {
    const auto all = grades();
    return std::count_if(all.begin(), all.end(), [](const course::Grade& one) {
      return one.verdict == GradeVerdict::kInfraError;
    });
  };
  EXPECT_EQ(failed(), 2);
  request_.intake.sources.clear();
  request_.intake.lab.reset();
  request_.retry_failed = true;
  request_.grade_one = [this](const OneRequest& one) {
    ++runs_;
    return fake_grade(one);
  };
  runs_ = 0;
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(failed(), 0);
}

}  // namespace
}  // namespace membound::queue
