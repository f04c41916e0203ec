// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/sandbox/jail/jail.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"
#include "grader/tests/course/schema_check.hpp"

namespace membound::queue {
namespace {

using course::GradeVerdict;
using testing::HasSubstr;

TEST_F(BatchTest, EverybodyHasARow) {
  EXPECT_EQ(run().grades.grades.size(), 12u);
  EXPECT_THAT(csv(), HasSubstr("student,lab,score,max_score,late,verdict,ratio,device,"
                               "submission_sha256,graded_at,note,audit\r\ns000,01-quick,"));
}

TEST_F(BatchTest, EqualTextsAreGradedOnceWithOneVerdict) {
  const BatchSummary summary = run();
  EXPECT_EQ(runs_, 10);  // of 12 one has no kernel.cu, and one is a copy
  EXPECT_EQ(grade(summary, "s005")->score, grade(summary, "s006")->score);
  EXPECT_EQ(grade(summary, "s005")->seed, grade(summary, "s006")->seed);
}

TEST_F(BatchTest, ARefusalIsARowWithItsReason) {
  const BatchSummary summary = run();
  EXPECT_EQ(grade(summary, "s010")->verdict, GradeVerdict::kPolicyReject);
  EXPECT_THAT(grade(summary, "s010")->note, HasSubstr("no kernel.cu in it; found: report.pdf"));
}

TEST_F(BatchTest, TheSameCommandAgainGradesNothing) {
  run();
  const std::string before = csv();
  runs_ = 0;
  run();
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(csv(), before);
}

TEST_F(BatchTest, ANewSubmissionIsAllThatIsGradedAgain) {
  run();
  runs_ = 0;
  write_text(folder_ / "in" / "s012" / "kernel.cu", "__global__ void quick(int*);  // new\n");
  EXPECT_EQ(run().grades.grades.size(), 13u);
  EXPECT_EQ(runs_, 1);
}

TEST_F(BatchTest, AChangedTestProgramGradesAllAgain) {
  run();
  runs_ = 0;
  write_text(folder_ / "root" / "labs" / "01-quick" / "test", "another program");
  run();
  EXPECT_EQ(runs_, 10);
}

TEST_F(BatchTest, AnotherCompilerGradesAllAgainAndThePlanNamesIt) {
  run();
  runs_ = 0;
  write_text(folder_ / "root" / "labs" / "01-quick" / "reference.ptx", "by clang");
  request_.settings.compiler = {compilers::DeviceCompiler::kClang, "/usr/bin/clang++", "14.0.6"};
  run();
  EXPECT_EQ(runs_, 10);
  const auto plan = read_plan(request_.out);
  ASSERT_TRUE(plan && *plan);
  EXPECT_EQ((*plan)->compiler, "clang 14.0.6");
}

TEST_F(BatchTest, TheReferenceOfTheOtherCompilerDoesNotMatter) {
  run();
  runs_ = 0;
  write_text(folder_ / "root" / "labs" / "01-quick" / "reference.ptx", "by clang");
  run();
  EXPECT_EQ(runs_, 0);
}

TEST_F(BatchTest, GoesOnWithoutTheSubmissions) {
  run();
  request_.intake.sources.clear();
  request_.regrade = {"s003"};
  runs_ = 0;
  run();
  EXPECT_EQ(runs_, 1);
}

TEST_F(BatchTest, WithoutTheSubmissionsNothingElseMayHaveChanged) {
  run();
  request_.intake.sources.clear();
  request_.settings.device.name = "vgpu:k80";
  EXPECT_TRUE(run_batch(request_)) << "nothing is graded";
  request_.regrade = {"s001"};
  EXPECT_FALSE(run_batch(request_));
  request_.settings.device.name = "vgpu:h200";
  EXPECT_TRUE(run_batch(request_));
  write_text(folder_ / "root" / "labs" / "01-quick" / "lab.json", "other bars");
  EXPECT_FALSE(run_batch(request_));
}

TEST_F(BatchTest, OnlyGradesOnlyThese) {
  request_.only = {"S003", "s004"};
  const BatchSummary summary = run();
  EXPECT_EQ(runs_, 2);
  EXPECT_EQ(summary.grades.open.size(), 9u);
  EXPECT_THAT(csv(), HasSubstr("not graded yet"));
}

TEST_F(BatchTest, NobodyOfThatNameIsAnError) {
  request_.only = {"nobody"};
  EXPECT_FALSE(run_batch(request_));
}

TEST_F(BatchTest, CtrlCKeepsWhatIsGraded) {
  std::atomic<bool> stop = false;
  request_.stop = &stop;
  request_.grade_one = [&](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    if (++runs_ == 4) {
      stop = true;
      outcome.stopped = true;
    }
    return outcome;
  };
  const BatchSummary summary = run();
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(summary.graded, 3);
  stop = false;
  runs_ = 10;
  EXPECT_EQ(run().graded, 7);
  EXPECT_EQ(run().grades.open.size(), 0u);
}

TEST_F(BatchTest, OurOwnFailureIsTriedTwiceAndNeverZero) {
  request_.only = {"s001"};
  request_.grade_one = [this](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    ++runs_;
    outcome.grade.end(GradeVerdict::kInfraError, "the device vanished", *one.lab);
    return outcome;
  };
  const BatchSummary summary = run();
  EXPECT_EQ(runs_, kLocalAttempts);
  EXPECT_EQ(grade(summary, "s001")->verdict, GradeVerdict::kInfraError);
  EXPECT_EQ(grade(summary, "s001")->score, std::nullopt);
  EXPECT_EQ(grade(summary, "s001")->note, "tried 2 times: the device vanished");
}

TEST_F(BatchTest, AFailureThatPassesIsForgotten) {
  request_.grade_one = [this](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    if (runs_++ == 0) outcome.grade.end(GradeVerdict::kInfraError, "once", *one.lab);
    return outcome;
  };
  for (const course::Grade& one : run().grades.grades)
    EXPECT_NE(one.verdict, GradeVerdict::kInfraError);
}

TEST_F(BatchTest, TextsThatMakeTheGraderFailStopNobodyElse) {
  // All but one fail, so that many do in a row; that one is graded, and before a second try.
  const std::string right = base::sha256("__global__ void quick(int*);  // 3\n");
  std::vector<std::string> order;
  request_.grade_one = [&](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    const bool ours = one.source.parent_path().filename() == one.lab->id;
    if (!ours) order.push_back(one.job->submission_sha256);
    if (!ours && one.job->submission_sha256 != right)
      outcome.grade.end(GradeVerdict::kInfraError, "it broke its runner", *one.lab);
    return outcome;
  };
  std::map<bool, int> failed;
  for (const course::Grade& one : run().grades.grades)
    if (!one.submission_sha256.empty() && one.verdict != GradeVerdict::kPolicyReject)
      ++failed[one.verdict == GradeVerdict::kInfraError];
  EXPECT_GT(failed[true], 8);
  EXPECT_EQ(failed[false], 1);
  const std::set<std::string> all(order.begin(), order.end());
  EXPECT_EQ(std::set<std::string>(order.begin(), order.begin() + all.size()), all);
}

TEST_F(BatchTest, AGraderThatAlwaysFailsStopsTheBatch) {
  request_.grade_one = [](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    outcome.grade.end(GradeVerdict::kInfraError, "no compiler", *one.lab);
    return outcome;
  };
  const auto summary = run_batch(request_);
  ASSERT_FALSE(summary);
  EXPECT_THAT(summary.error().found, HasSubstr("no compiler"));
}

TEST_F(BatchTest, ManyWorkersGiveTheSameTable) {
  run();
  const std::string one = csv();
  request_.out = folder_ / "out";
  fs::remove_all(request_.out);
  request_.workers = 4;
  run();
  EXPECT_EQ(csv(), one);
}

TEST_F(BatchTest, WhoHandedInNothingHasARow) {
  request_.intake.roster = *intake::Roster::from_text("id,name\ns000,A\ns999,Z\n", "roster.csv");
  const BatchSummary summary = run();
  EXPECT_EQ(grade(summary, "s999")->verdict, std::nullopt);
  EXPECT_EQ(grade(summary, "s999")->score, 0);
  EXPECT_THAT(csv(), HasSubstr("s999,01-quick,0,10,,,,,,,nothing submitted"));
}

TEST_F(BatchTest, LatePointsAreLost) {
  request_.rules_now = {.due = 1000, .percent_per_day = 50};  // due in 1970
  const BatchSummary late = run();
  EXPECT_EQ(grade(late, "s000")->late_factor, 0);
  EXPECT_EQ(grade(late, "s000")->score, 0);
  EXPECT_GT(grade(late, "s000")->late_by_seconds, 0);
}

TEST_F(BatchTest, ADeductionIsInTheTableAndInTheNote) {
  request_.intake.times = {{{"s000"}, "01-quick", 0, 1000 + 25 * 3600}};
  request_.rules_now = {.due = 1000, .percent_per_day = 10};
  run();
  const std::string table = csv(), row = table.substr(table.find("s000,"));
  EXPECT_THAT(row.substr(0, row.find('\n')),
              HasSubstr("25 hours late: 2 days begun, 20 % of the points"));
  EXPECT_EQ(base::read_csv(table, "grades.csv")->rows[0][4], "20");
}

TEST_F(BatchTest, AFilesOwnDateIsSaidWhereSomethingIsDue) {
  EXPECT_EQ(grade(run(), "s000")->note.find("own date"), std::string::npos);
  request_.rules_now.due = intake::parse_time("2100-01-01");
  EXPECT_THAT(grade(run(), "s000")->note, HasSubstr("the time is the file's own date"));
  EXPECT_EQ(grade(run(), "s000")->time_from, "file");
}

TEST_F(BatchTest, TheRulesAreRememberedAndAnExtensionMayComeAfterwards) {
  request_.intake.times = {{{"s000"}, "01-quick", 0, 2000}};
  request_.rules = intake::CourseRules();
  request_.rules->labs["01-quick"] = {.due = 1000, .percent_per_day = 30};
  run();
  request_.rules.reset();
  const BatchSummary again = run();
  EXPECT_EQ(grade(again, "s000")->late_by_seconds, 1000);
  EXPECT_DOUBLE_EQ(grade(again, "s000")->late_factor, 0.7);
  request_.intake.sources.clear();
  request_.extensions = {{{"S000", "01-quick", 2000, "ill"}}};
  runs_ = 0;
  const BatchSummary extended = run();
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(grade(extended, "s000")->late_factor, 1);
  EXPECT_THAT(grade(extended, "s000")->note,
              HasSubstr("due date extended to 1970-01-01T00:33:20Z"));
  EXPECT_GT(grade(extended, "s001")->late_by_seconds, 0);
  EXPECT_EQ(ledger::verify(folder_ / "out")->problems, std::vector<std::string>());
}

TEST_F(BatchTest, NoSpreadsheetRunsAStudentsName) {
  write_text(folder_ / "in" / "=cmd()" / "kernel.cu", "__global__ void quick(int*);  // x\n");
  run();
  EXPECT_THAT(csv(), HasSubstr("'=cmd()"));
}

TEST_F(BatchTest, GradesFitTheirSchema) {
  for (const course::Grade& one : run().grades.grades)
    EXPECT_EQ(course::schema_problems("docs/grade.schema.json", one), "") << one.student;
}

TEST_F(BatchTest, OtherProgramsReadTheSameGrades) {
  const BatchSummary summary = run();
  const auto read = read_class(folder_ / "out");
  ASSERT_TRUE(read);
  EXPECT_EQ(nlohmann::json(read->grades), nlohmann::json(summary.grades.grades));
}

TEST_F(BatchTest, AFolderOfSomebodyElseIsLeftAlone) {
  write_text(folder_ / "out" / "thesis.tex", "x");
  EXPECT_FALSE(run_batch(request_));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "out"), fs::directory_iterator()), 1);
}

TEST_F(BatchTest, UntrustedSubmissionsNeedAJail) {
  request_.settings.trust_submissions = false;
  const auto summary = run_batch(request_);
  if (!summary) {
    EXPECT_THAT(summary.error().advice, HasSubstr("--trust-submissions"));
  }
}

TEST_F(BatchTest, TrustedSubmissionsHaveNoSeedKey) {
  EXPECT_EQ(grade(run(), "s001")->seed_key, "");
}

TEST_F(BatchTest, EveryUntrustedTextHasASeedKeyOfItsOwnThatTheLedgerKeeps) {
  request_.settings.trust_submissions = false;
  if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
  std::set<std::string> keys;
  for (const course::Grade& one : run().grades.grades)
    if (!one.result.stages.empty()) keys.insert(one.seed_key);
  EXPECT_EQ(keys.size(), 10u);  // as many as different texts
  for (const std::string& key : keys) EXPECT_EQ(key.size(), 32u);
  const std::string before = *keys.begin();
  runs_ = 0;
  std::set<std::string> again;
  for (const course::Grade& one : run().grades.grades) again.insert(one.seed_key);
  EXPECT_EQ(runs_, 0);
  EXPECT_TRUE(again.contains(before));
  EXPECT_EQ(ledger::verify(folder_ / "out")->problems, std::vector<std::string>());
}

TEST_F(BatchTest, AllJobsOfALabAreTimedByTheSameBlocksWhichOnlyThisBatchKnows) {
  std::set<std::uint64_t> seeds;
  std::mutex mutex;
  request_.grade_one = [&](const OneRequest& one) {
    const std::lock_guard lock(mutex);
    seeds.insert(one.planned->sample_seed);
    OneOutcome outcome = fake_grade(one);
    outcome.grade.sample_seed = one.planned->sample_seed;
    return outcome;
  };
  run();
  EXPECT_EQ(seeds.size(), 1u);
  const auto seen = base::read_file(folder_ / "out" / "students" / "s001.json");
  ASSERT_TRUE(seen);
  EXPECT_THAT(*seen, testing::Not(HasSubstr(std::to_string(*seeds.begin()))));
  request_.out = folder_ / "another";
  request_.seed = 2;
  run();
  EXPECT_EQ(seeds.size(), 2u);
}

TEST_F(BatchTest, ACallWithNothingToDoWritesNothing) {
  run();
  const fs::path student = folder_ / "out" / "students" / "s000.json";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(student, old);
  const std::string table = csv();
  run();
  EXPECT_EQ(fs::last_write_time(student), old);
  write_text(folder_ / "out" / "grades.csv", "edited by hand");
  run();
  EXPECT_EQ(csv(), table);
  EXPECT_NE(fs::last_write_time(student), old);
}

/// The most memory that grading 600 students with six different texts takes, whose results are
/// 200 kB each, in MB beyond what the process has before: all of them together would be 120.
TEST_F(BatchTest, AClassesResultsAreNotInMemoryTogether) {
  fs::remove_all(folder_ / "in");
  for (int i = 0; i < 600; ++i)
    write_text(folder_ / "in" / ("t" + std::to_string(i)) / "kernel.cu",
               "__global__ void quick(int*);  // " + std::to_string(i % 6) + "\n");
  request_.detail = Detail::kSummary;
  request_.grade_one = [](const OneRequest& one) {
    OneOutcome outcome = fake_grade(one);
    outcome.grade.result.compiler_output = std::string(200'000, 'w');
    return outcome;
  };
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const pid_t child = fork();
  if (child == 0) _exit(run_batch(request_) ? 0 : 3);
  int status = 0;
  ASSERT_EQ(wait4(child, &status, 0, &after), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_LT((after.ru_maxrss - before.ru_maxrss) / 1024, 60);
}

TEST_F(BatchTest, EverythingIsSigned) {
  run();
  EXPECT_EQ(ledger::verify(folder_ / "out")->problems, std::vector<std::string>());
}

}  // namespace
}  // namespace membound::queue
