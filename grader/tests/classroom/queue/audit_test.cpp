// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/audit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "grader/base/csv.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using course::GradeVerdict;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

/// A class whose speeds a virtual GPU predicted. What is audited is noted.
class AuditTest : public BatchTest {
 protected:
  AuditTest() {
    request_.grade_one = [this](const OneRequest& one) {
      if (one.job->audited_stage > 0) {
        const std::lock_guard guard(mutex_);
        audited_.push_back(one.job->audited);
      }
      return fake_predicted(one);
    };
  }

  /// The points of each audited text, in the order of the audits.
  std::vector<double> points_in_order(const BatchSummary& without_audit) {
    std::vector<double> points;
    for (const std::string& key : audited_)
      for (const Row& row : without_audit.plan.rows)
        if (row.job == key) {
          points.push_back(*grade(without_audit, row.student)->score);
          break;
        }
    return points;
  }
  static std::vector<std::string> column(const std::string& csv, const std::string& name) {
    const auto table = base::read_csv(csv, "grades.csv");
    std::vector<std::string> cells;
    for (const auto& row : table->rows) cells.push_back(row[*table->column(name)]);
    return cells;
  }

  std::mutex mutex_;
  std::vector<std::string> audited_;
};

TEST_F(AuditTest, WithoutOneWhatWasNotAuditedIsSaid) {
  const BatchSummary summary = run();
  EXPECT_THAT(audited_, IsEmpty());
  EXPECT_GT(summary.not_audited.stages, 0u);
  EXPECT_GT(summary.not_audited.seconds, 0);
  for (const course::Grade& one : summary.grades.grades) {
    const bool earned = one.audit.has_value();
    EXPECT_EQ(course::audit_text(one.audit), earned ? "0 of 1 stage" : "") << one.student;
  }
  EXPECT_THAT(column(csv(), "audit"), testing::Contains("0 of 1 stage"));
}

TEST_F(AuditTest, AWrongOneTakesTheStagesPoints) {
  const BatchSummary before = run();
  request_.audit = true;
  const BatchSummary after = run();
  int taken = 0;
  for (const course::Grade& one : after.grades.grades) {
    const course::Grade* const then = grade(before, one.student);
    if (course::audit_text(one.audit).find("wrong") == std::string::npos) {
      EXPECT_EQ(one.score, then->score) << one.student;
      EXPECT_EQ(one.verdict, then->verdict) << one.student;
      continue;
    }
    ++taken;
    EXPECT_EQ(course::audit_text(one.audit), "1 of 1 stage; wrong in stage 1");
    EXPECT_GT(*then->score, 0);
    EXPECT_EQ(one.score, 0);
    EXPECT_EQ(one.verdict, GradeVerdict::kFailWrong);
    EXPECT_EQ(one.note, "stage 1: out[7] is 1 instead of 2");
  }
  EXPECT_GT(taken, 0);
  EXPECT_EQ(after.not_audited.stages, 0u);
  const auto found = ledger::verify(request_.out);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->problems, IsEmpty());
  EXPECT_EQ(static_cast<std::size_t>(found->audits), audited_.size());
}

TEST_F(AuditTest, ComesAfterAllVerdictsAndInTheOrderOfPoints) {
  const BatchSummary before = run();
  fs::remove_all(request_.out);
  runs_ = 0;
  std::size_t verdicts = 0;
  request_.grade_one = [&, this](const OneRequest& one) {
    const std::lock_guard guard(mutex_);
    if (one.job->audited_stage > 0)
      audited_.push_back(one.job->audited);
    else
      ++verdicts;
    EXPECT_TRUE(audited_.empty() || verdicts == before.plan.jobs.size());
    return fake_predicted(one);
  };
  request_.audit = true;
  run();
  const std::vector<double> points = points_in_order(before);
  ASSERT_GT(points.size(), 1u);
  EXPECT_TRUE(std::is_sorted(points.rbegin(), points.rend()));
}

TEST_F(AuditTest, AgainAuditsOnlyWhatIsNotAuditedYet) {
  std::atomic<bool> stop = false;
  request_.stop = &stop;
  request_.audit = true;
  request_.grade_one = [&, this](const OneRequest& one) {
    OneOutcome outcome = fake_predicted(one);
    if (one.job->audited_stage == 0) return outcome;
    audited_.push_back(one.job->key);
    if (audited_.size() == 2) stop = outcome.stopped = true;  // Ctrl-C in the second
    return outcome;
  };
  const BatchSummary half = run();
  EXPECT_TRUE(half.stopped);
  const std::string first = audited_.front(), interrupted = audited_.back();
  stop = false;
  audited_ = {"", ""};
  const BatchSummary whole = run();
  EXPECT_FALSE(whole.stopped);
  EXPECT_EQ(whole.graded, 0) << "verdicts that were there are kept";
  EXPECT_EQ(std::count(audited_.begin(), audited_.end(), first), 0);
  EXPECT_EQ(std::count(audited_.begin(), audited_.end(), interrupted), 1);
  EXPECT_EQ(whole.not_audited.stages, 0u);
  const std::string table = csv();
  // As if it had never been interrupted.
  audited_ = {"", ""};
  run();
  EXPECT_EQ(audited_.size(), 2u);
  EXPECT_EQ(csv(), table);
}

TEST_F(AuditTest, AVerdictMadeAnewIsAuditedAnew) {
  request_.audit = true;
  run();
  const std::size_t all = audited_.size();
  request_.regrade = {"all"};
  run();
  EXPECT_EQ(audited_.size(), 2 * all);
}

TEST_F(AuditTest, OfAGpusTimesThereIsNone) {
  request_.grade_one = fake_grade;
  request_.audit = true;
  const BatchSummary summary = run();
  EXPECT_EQ(summary.not_audited.stages, 0u);
  EXPECT_THAT(column(csv(), "audit"), Each(std::string()));
}

TEST_F(AuditTest, OneThatDoesNotEndTakesNothingAndIsSaid) {
  const BatchSummary before = run();
  request_.audit = true;
  request_.grade_one = [](const OneRequest& one) {
    OneOutcome outcome = fake_predicted(one);
    if (one.job->audited_stage == 0) return outcome;
    outcome.grade.audit = course::Audit{1, {{1, course::Verdict::kTimeout, "did not end", 60}}};
    return outcome;
  };
  const BatchSummary after = run();
  for (const course::Grade& one : after.grades.grades) {
    EXPECT_EQ(one.score, grade(before, one.student)->score);
    if (!one.audit) continue;
    EXPECT_EQ(course::audit_text(one.audit), "0 of 1 stage; stage 1: did not end");
  }
}

TEST_F(AuditTest, OurOwnFailureIsTriedAgainWithResume) {
  request_.audit = true;
  std::string failing;  // one text alone: where many fail, the batch stops
  request_.grade_one = [&, this](const OneRequest& one) {
    OneOutcome outcome = fake_predicted(one);
    if (one.job->audited_stage == 0) return outcome;
    const std::scoped_lock lock(mutex_);
    if (failing.empty()) failing = one.job->submission_sha256;
    if (one.job->submission_sha256 != failing) return outcome;
    outcome.grade.end(GradeVerdict::kInfraError, "no memory", *one.lab);
    outcome.grade.audit = course::Audit{1, {{1, course::Verdict::kInfraError, "no memory", 0}}};
    return outcome;
  };
  for (const course::Grade& one : run().grades.grades)
    EXPECT_NE(one.verdict, GradeVerdict::kInfraError) << "the verdict stays";
  request_.grade_one = fake_predicted;
  request_.retry_failed = true;
  for (const course::Grade& one : run().grades.grades) {
    if (one.audit) {
      EXPECT_EQ(one.audit->decided(), 1);
    }
  }
}

TEST(AuditText, SaysHowManyAndWhatIsWrong) {
  using course::Verdict;
  EXPECT_EQ(course::audit_text(std::nullopt), "");
  EXPECT_EQ(course::audit_text(course::Audit{6, {{1, Verdict::kPassed, "", 1}}}), "1 of 6 stages");
  EXPECT_EQ(course::audit_text(course::Audit{3,
                                             {{1, Verdict::kWrong, "", 1},
                                              {2, Verdict::kMemory, "", 1},
                                              {3, Verdict::kFault, "", 1}}}),
            "2 of 3 stages; wrong in stage 1, 3; stage 2: too much memory");
}

}  // namespace
}  // namespace membound::queue
