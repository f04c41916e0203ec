// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "grader/classroom/intake/course_rules.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A batch that is graded, and a course that is updated afterwards.
class RehearsalTest : public BatchTest {
 protected:
  RehearsalTest() {
    run();
    request_.intake.sources.clear();
    before_ = files();
  }
  /// Another lab.json, and as many points more for every stage that had some.
  void update_course(double more) {
    write_text(folder_ / "root" / "labs" / "01-quick" / "lab.json", "a newer lab");
    request_.grade_one = [this, more](const OneRequest& one) {
      ++runs_;
      OneOutcome outcome = fake_grade(one);
      course::Result result = outcome.grade.result;
      if (result.stages[0].points > 0) result.stages[0].points += more;
      outcome.grade.take(std::move(result), *one.lab);
      return outcome;
    };
  }
  Rehearsal rehearse() {
    const auto found = rehearse_batch(request_);
    EXPECT_TRUE(found) << (found ? "" : base::to_string(found.error()));
    return found ? *found : Rehearsal();
  }
  /// Every file of OUT with its content, but for the lock, which says who held it.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "out")) {
      if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      all[entry.path().string()] = {std::istreambuf_iterator<char>(stream), {}};
    }
    return all;
  }

  std::map<std::string, std::string> before_;
};

TEST_F(RehearsalTest, NothingChangesWhereNothingDid) {
  const int runs = runs_;
  EXPECT_THAT(rehearse().changes, IsEmpty());
  EXPECT_EQ(runs_, runs) << "what is valid is not graded again";
  EXPECT_EQ(files(), before_);
}

TEST_F(RehearsalTest, AnUpdateIsListedBeforeItIsMade) {
  update_course(0.5);
  const Rehearsal found = rehearse();
  ASSERT_FALSE(found.changes.empty());
  EXPECT_THAT(found.changes[0].why, HasSubstr("the lab changed; stage 1: "));
  EXPECT_EQ(files(), before_) << "no byte of the results folder is another one";
  EXPECT_THAT(changes_csv(found.changes), HasSubstr("student,lab,before,after,why"));

  // What was listed is what the call then does, no more and no less.
  const auto then = read_class(folder_ / "out", {}, Detail::kShown);
  request_.update = true;
  const auto now = run().grades;
  const auto made = changes_between(*then, now);
  ASSERT_EQ(made.size(), found.changes.size());
  for (std::size_t i = 0; i < made.size(); ++i) {
    EXPECT_EQ(made[i].student, found.changes[i].student);
    EXPECT_EQ(made[i].before, found.changes[i].before);
    EXPECT_EQ(made[i].after, found.changes[i].after);
  }
  EXPECT_EQ(ledger::verify(folder_ / "out")->problems, std::vector<std::string>());
}

TEST_F(RehearsalTest, OtherRulesAreRehearsedToo) {
  request_.rules =
      *intake::read_course_rules("counting: {weights: {quick: 0.5}}", "course.yml", course_.labs);
  const Rehearsal found = rehearse();
  ASSERT_FALSE(found.changes.empty());
  for (const Change& one : found.changes) {
    EXPECT_EQ(one.lab, "") << "only totals";
    EXPECT_THAT(one.after, HasSubstr(" × 0.5 + "));
  }
  EXPECT_EQ(files(), before_);
}

TEST_F(RehearsalTest, WithoutAnUpdateAResumedCallGradesNothing) {
  update_course(0.5);
  const int runs = runs_;
  run();
  EXPECT_EQ(runs_, runs);
}

TEST_F(RehearsalTest, NeedsAGradedClass) {
  request_.out = folder_ / "nowhere";
  EXPECT_FALSE(rehearse_batch(request_));
}

}  // namespace
}  // namespace membound::queue
