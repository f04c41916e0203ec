// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/hand_marks.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>

#include "grader/base/csv.hpp"
#include "grader/tests/classroom/queue/fake_class.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using course::GradeVerdict;
using testing::HasSubstr;
using testing::Not;

/// A class of four, of whom s001's verdict is suspicious and s002's failed by our own fault.
class HandMarks : public testing::Test {
 protected:
  HandMarks() {
    std::string pattern = (fs::temp_directory_path() / "membound-marks-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    make_fake_class(folder_, 4);
    course_ = fake_course(folder_);
    request_ = fake_batch(folder_, course_, folder_ / "out");
    setenv("SOURCE_DATE_EPOCH", "1795241893", 1);
    const auto digest_of = [this](const char* student) {
      std::ifstream file(folder_ / "in" / student / "kernel.cu");
      return base::sha256(std::string(std::istreambuf_iterator<char>(file), {}));
    };
    const std::string odd = digest_of("s001"), ours = digest_of("s002");
    request_.grade_one = [odd, ours](const OneRequest& one) {
      OneOutcome outcome = fake_grade(one);
      if (one.job->submission_sha256 == odd)
        outcome.grade.end(GradeVerdict::kSuspicious, "too fast", *one.lab);
      if (one.job->submission_sha256 == ours)
        outcome.grade.end(GradeVerdict::kInfraError, "no memory", *one.lab);
      return outcome;
    };
    EXPECT_TRUE(run_batch(request_));
  }
  ~HandMarks() override { fs::remove_all(folder_); }

  base::Result<course::Grade> mark(const std::string& student, std::optional<double> points,
                                   const std::string& comment = "") {
    return mark_row({student, "01-quick", 0, points, comment});
  }
  base::Result<course::Grade> mark_row(const MarkRow& row) {
    const auto grades = mark_by_hand({request_.out, "", {row}});
    if (!grades) return grades.error();
    return grades->front();
  }
  course::Grade grade(const std::string& student) {
    const auto all = read_class(request_.out);
    for (const course::Grade& one : all->grades)
      if (one.student == student) return one;
    ADD_FAILURE() << student;
    return {};
  }
  std::string text(const std::string& name) {
    std::ifstream stream(request_.out / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path folder_;
  course::Course course_;
  BatchRequest request_;
};

TEST_F(HandMarks, AMarkSettlesWhatIsWithheldAndTheVerdictStaysBesideIt) {
  EXPECT_TRUE(grade("s001").withheld() && grade("s002").withheld());
  ASSERT_TRUE(mark("s001", 7.5, "looked at it together"));
  ASSERT_TRUE(mark("S002", 4));
  const course::Grade settled = grade("s001");
  EXPECT_FALSE(settled.withheld());
  EXPECT_EQ(settled.score, 7.5);
  EXPECT_EQ(settled.verdict, GradeVerdict::kSuspicious);
  EXPECT_EQ(settled.mark->automatic_score, std::nullopt);
  EXPECT_THAT(settled.note, HasSubstr("marked by hand: looked at it together"));
  EXPECT_THAT(text("grades.csv"), HasSubstr("s001,01-quick,7.5,10,,SUSPICIOUS"));
  EXPECT_THAT(text("course.csv"), HasSubstr("s001,,,7.5,7.5,10,0"));
  EXPECT_EQ(grade("s002").score, 4);
}

TEST_F(HandMarks, TheLedgerHoldsEachMarkSignedAndTheLastCounts) {
  ASSERT_TRUE(mark("s000", 1, "first"));
  ASSERT_TRUE(mark("s000", 2, "second"));
  EXPECT_EQ(grade("s000").score, 2);
  const auto found = ledger::verify(request_.out);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problems, std::vector<std::string>());
  EXPECT_EQ(found->marks, 2);
  const auto marks = ledger::read_marks(request_.out, "");
  ASSERT_TRUE(marks && marks->size() == 2);
  EXPECT_EQ((*marks)[0].comment, "first");
  EXPECT_THAT((*marks)[1].automatic, HasSubstr(","));
}

TEST_F(HandMarks, AMarkThatSomebodyChangedIsNoMark) {
  ASSERT_TRUE(mark("s000", 1));
  {
    SQLite::Database ledger((request_.out / "ledger.sqlite").string(), SQLite::OPEN_READWRITE);
    ledger.exec("UPDATE entry SET summary = replace(summary, '1.0', '9.0') WHERE kind = 'mark'");
  }
  EXPECT_FALSE(read_class(request_.out));
  EXPECT_FALSE(ledger::verify(request_.out)->problems.empty());
}

TEST_F(HandMarks, TakenBackTheVerdictCountsAgain) {
  const auto before = grade("s000");
  ASSERT_TRUE(mark("s000", 1));
  ASSERT_TRUE(mark("s000", std::nullopt));
  EXPECT_EQ(grade("s000").score, before.score);
  EXPECT_EQ(grade("s000").note, before.note);
}

TEST_F(HandMarks, OtherWorkIsNotMarkedYet) {
  ASSERT_TRUE(mark("s000", 1));
  write_text(folder_ / "in" / "s000" / "kernel.cu", "__global__ void quick(int*);  // new\n");
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(grade("s000").mark, std::nullopt);
  EXPECT_THAT(grade("s000").note, HasSubstr("was for other work"));
}

TEST_F(HandMarks, AMarkOutlastsRegradingAndLateness) {
  ASSERT_TRUE(mark("s000", 9));
  request_.rules_now = {.due = 1000, .percent_per_day = 100};
  request_.regrade = {"all"};
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(grade("s000").score, 9);
  EXPECT_EQ(grade("s003").score, 0);
}

TEST_F(HandMarks, AMarkOnLateWorkSaysNothingOfADeduction) {
  request_.rules_now = {.due = 1000, .percent_per_day = 50};
  ASSERT_TRUE(run_batch(request_));
  EXPECT_THAT(grade("s000").note, HasSubstr("deducted"));
  ASSERT_TRUE(mark("s000", 9, "ill that week"));
  const course::Grade marked = grade("s000");
  EXPECT_THAT(marked.note, testing::StartsWith("marked by hand: ill that week"));
  EXPECT_THAT(marked.note, Not(HasSubstr("deducted")));
  EXPECT_EQ(marked.late_factor, 1);
  ASSERT_TRUE(mark("s000", std::nullopt));
  EXPECT_THAT(grade("s000").note, HasSubstr("deducted"));
}

TEST_F(HandMarks, TheNoteOfAMarkReplacesThatOfTheVerdict) {
  EXPECT_THAT(grade("s001").note, HasSubstr("too fast"));
  ASSERT_TRUE(mark("s001", 7, "measured again"));
  EXPECT_EQ(grade("s001").note, "marked by hand: measured again (automatic score: withheld)");
}

TEST_F(HandMarks, AnExcusedLabHasNoScoreAndIsLeftOutOfTheTotal) {
  MarkRow row{"s000", "01-quick"};
  row.excused = true;
  row.comment = "ill";
  ASSERT_TRUE(mark_row(row));
  const course::Grade excused = grade("s000");
  EXPECT_TRUE(excused.excused);
  EXPECT_EQ(excused.score, std::nullopt);
  EXPECT_FALSE(excused.undecided());
  EXPECT_EQ(excused.note, "excused: ill");
  EXPECT_THAT(text("course.csv"), HasSubstr("s000,,,,0,0,0")) << "of 0 points, nobody must decide";
  write_text(folder_ / "in" / "s000" / "kernel.cu", "__global__ void quick(int*);  // new\n");
  ASSERT_TRUE(run_batch(request_));
  EXPECT_TRUE(grade("s000").excused) << "whatever is handed in";
  ASSERT_TRUE(mark("s000", std::nullopt));
  EXPECT_FALSE(grade("s000").excused);
}

TEST_F(HandMarks, AStageIsMarkedAlone) {
  const auto before = grade("s003");
  ASSERT_TRUE(mark_row({"s003", "01-quick", 1, 9.5, "by hand"}));
  const course::Grade marked = grade("s003");
  EXPECT_EQ(marked.score, 9.5);
  ASSERT_TRUE(marked.mark && marked.mark->stages.size() == 1U);
  EXPECT_EQ(marked.mark->stages[0].automatic_points, before.result.stages[0].points);
  EXPECT_THAT(marked.note, HasSubstr("stage 1 marked by hand: by hand (automatic points: "));
  EXPECT_THAT(text("grades.csv"), HasSubstr("s003,01-quick,9.5,10")) << "from summaries too";
  ASSERT_TRUE(mark_row({"s003", "01-quick", 1, std::nullopt}));
  EXPECT_EQ(grade("s003").score, before.score);
}

TEST_F(HandMarks, AMarkForTheWholeLabEndsThoseOfItsStages) {
  ASSERT_TRUE(mark_row({"s003", "01-quick", 1, 9.5}));
  ASSERT_TRUE(mark("s003", 2));
  EXPECT_EQ(grade("s003").score, 2);
  const auto refused = mark_row({"s003", "01-quick", 1, 5});
  ASSERT_FALSE(refused);
  EXPECT_THAT(base::to_string(refused.error()), HasSubstr("take that one back first"));
  ASSERT_TRUE(mark("s003", std::nullopt));
  EXPECT_EQ(grade("s003").mark, std::nullopt) << "the stage's mark does not come back";
}

TEST_F(HandMarks, AStageOfOtherWorkIsNotMarkedYet) {
  ASSERT_TRUE(mark_row({"s000", "01-quick", 1, 9.5}));
  write_text(folder_ / "in" / "s000" / "kernel.cu", "__global__ void quick(int*);  // new\n");
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(grade("s000").mark, std::nullopt);
  EXPECT_THAT(grade("s000").note, HasSubstr("was for other work"));
}

TEST_F(HandMarks, ATableMarksMany) {
  const auto rows = read_marks_table(
      "student,lab,stage,points,comment,excused\ns000,quick,,7.5,\"well, yes\",\n"
      "s001,01-quick,1,3,,no\ns003,1,,,ill,yes\n",
      "marks.csv", course_.labs);
  ASSERT_TRUE(rows) << base::to_string(rows.error());
  const auto grades = mark_by_hand({request_.out, "", *rows});
  ASSERT_TRUE(grades) << base::to_string(grades.error());
  ASSERT_EQ(grades->size(), 3U);
  EXPECT_EQ(grade("s000").score, 7.5);
  EXPECT_EQ(grade("s000").mark->comment, "well, yes");
  EXPECT_EQ(grade("s001").score, 3) << "all stages are marked: nothing is withheld";
  EXPECT_TRUE(grade("s003").excused);
  EXPECT_EQ(ledger::verify(request_.out)->problems, std::vector<std::string>());
}

TEST_F(HandMarks, ATableWithAWrongRowMarksNothingAndNamesIt) {
  const auto all = read_marks_table("student,lab,points\ns000,quick,7\ns001,quick,11\n",
                                    "marks.csv", course_.labs);
  ASSERT_TRUE(all);
  const auto grades = mark_by_hand({request_.out, "", *all});
  ASSERT_FALSE(grades);
  EXPECT_THAT(base::to_string(grades.error()), HasSubstr("marks.csv, row 3"));
  EXPECT_EQ(grade("s000").mark, std::nullopt);
  for (const char* rows : {"s000,quick,x,,\n", "s000,quick,,,\n", "s000,quick,5,,yes\n",
                           "s000,quick,5,0,\n", "s000,nolab,5,,\n", "s000,quick,5,,perhaps\n"}) {
    const auto wrong = read_marks_table(std::string("student,lab,points,stage,excused\n") + rows,
                                        "marks.csv", course_.labs);
    ASSERT_FALSE(wrong) << rows;
    EXPECT_THAT(base::to_string(wrong.error()), HasSubstr("row 2")) << rows;
  }
}

/// The same class, whose lab has a write-up to mark. Its rubric stands in the plan of the first
/// call.
class WriteUps : public HandMarks {
 protected:
  WriteUps() {
    auto plan = nlohmann::json::parse(text("batch.json"));
    plan["labs"]["01-quick"]["rubric"] = {
        {{"item", "table"}, {"points", 4}, {"asks", "a row per stage"}},
        {{"item", "limit"}, {"points", 2.5}, {"asks", "what limits it"}}};
    write_text(request_.out / "batch.json", plan.dump());
  }
  void count() {
    auto plan = nlohmann::json::parse(text("batch.json"));
    plan["counting"]["write_ups"] = {"01-quick"};
    write_text(request_.out / "batch.json", plan.dump());
  }
  base::Result<course::Grade> mark_item(const std::string& item, std::optional<double> points) {
    MarkRow row{"s000", "01-quick", 0, points, "as asked"};
    row.item = item;
    return mark_row(row);
  }
};

TEST_F(WriteUps, AreNoPartOfAClassThatDoesNotCountThem) {
  EXPECT_EQ(grade("s000").max_score, 10);
  const auto refused = mark_item("table", 3);
  ASSERT_FALSE(refused);
  EXPECT_THAT(base::to_string(refused.error()), HasSubstr("write_ups"));
}

TEST_F(WriteUps, AddTheirPointsItemByItem) {
  count();
  const double automatic = *grade("s000").score;
  EXPECT_EQ(grade("s000").max_score, 16.5);
  EXPECT_THAT(grade("s000").note, HasSubstr("write-up: 0 of 6.5 points, 2 things not marked yet"));
  ASSERT_TRUE(mark_item("table", 1));
  ASSERT_TRUE(mark_item("table", 3.5));
  course::Grade marked = grade("s000");
  EXPECT_EQ(marked.score, automatic + 3.5);
  ASSERT_EQ(marked.write_up.size(), 2U);
  EXPECT_EQ(marked.write_up[0].points, 3.5);
  EXPECT_EQ(marked.write_up[0].comment, "as asked");
  EXPECT_EQ(marked.write_up[1].points, std::nullopt);
  EXPECT_THAT(text("grades.csv"), HasSubstr("3.5 of 6.5 points, 1 thing not marked yet"));
  ASSERT_TRUE(mark_item("table", std::nullopt));
  EXPECT_EQ(grade("s000").score, automatic) << "taken back";
  const auto marks = ledger::read_marks(request_.out, "");
  ASSERT_TRUE(marks);
  EXPECT_EQ(marks->size(), 3U) << "each is kept";
  EXPECT_EQ(marks->back().item, "table");
}

TEST_F(WriteUps, WaitForTheScoreThatIsWithheldAndYieldToAMarkForTheLab) {
  count();
  EXPECT_TRUE(grade("s001").withheld());
  ASSERT_TRUE(mark_item("limit", 2));
  ASSERT_TRUE(mark("s000", 12));
  EXPECT_EQ(grade("s000").score, 12);
  EXPECT_TRUE(grade("s000").write_up.empty());
  EXPECT_FALSE(mark_item("limit", 2)) << "beside a mark for the whole lab";
}

TEST_F(WriteUps, RefuseWhatTheRubricHasNot) {
  count();
  const auto unknown = mark_item("style", 1);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(base::to_string(unknown.error()), HasSubstr("table, limit"));
  EXPECT_FALSE(mark_item("limit", 3));
  const auto rows =
      read_marks_table("student,lab,item,points\ns000,quick,limit,1\n", "marks.csv", course_.labs);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->front().item, "limit");
  EXPECT_FALSE(read_marks_table("student,lab,stage,item,points\ns000,quick,1,limit,1\n",
                                "marks.csv", course_.labs));
}

TEST_F(HandMarks, ACommentStandsAtALineUntilItIsTakenBack) {
  CommentRequest one{request_.out, "", "s000", "01-quick", 1, "why void?"};
  const auto line = comment_line(one);
  ASSERT_TRUE(line) << base::to_string(line.error());
  EXPECT_THAT(*line, HasSubstr("__global__ void quick"));
  one.line = 7;
  EXPECT_FALSE(comment_line(one)) << "the text has one line";
  auto comments = ledger::read_comments(request_.out, "");
  ASSERT_TRUE(comments && comments->size() == 1U);
  EXPECT_EQ(comments->front().text, "why void?");
  one.line = 1;
  one.text.clear();
  ASSERT_TRUE(comment_line(one));
  comments = ledger::read_comments(request_.out, "");
  EXPECT_TRUE(comments && comments->empty());
  EXPECT_EQ(ledger::verify(request_.out)->comments, 2);
}

TEST_F(HandMarks, StagesAreWorthWhatTheCourseSays) {
  const auto before = grade("s003");
  request_.rules = *intake::read_course_rules("counting: {stages: {quick: {1: 40}}}", "course.yml",
                                              course_.labs);
  ASSERT_TRUE(run_batch(request_));
  const course::Grade now = grade("s003");
  EXPECT_EQ(now.score, *before.score * 4);
  EXPECT_EQ(now.max_score, 40);
  EXPECT_EQ(now.result.stages[0].max_points, 40);
  ASSERT_TRUE(mark_row({"s003", "01-quick", 1, 39}));
  EXPECT_FALSE(mark_row({"s003", "01-quick", 1, 41}));
  EXPECT_FALSE(mark_row({"s003", "01-quick", 2, 1}));
}

TEST_F(HandMarks, WrongUseIsNamed) {
  const auto found = [&](const base::Result<course::Grade>& result) {
    EXPECT_FALSE(result);
    return result ? "" : base::to_string(result.error());
  };
  EXPECT_THAT(found(mark("s000", 11)), HasSubstr("0 to 10 for 01-quick"));
  EXPECT_THAT(found(mark("s000", -1)), HasSubstr("0 to 10"));
  EXPECT_THAT(found(mark("nobody", 1)), HasSubstr("has no grade"));
}

TEST_F(HandMarks, RequestsComeAsATableAndAreAnsweredByOne) {
  ASSERT_TRUE(mark("s001", 6, "fair"));
  const auto asked = read_requests(
      "student,lab,reason\ns001,quick,too harsh\ns002,01-quick,it worked "
      "here\ns000,,\nzoe,quick,?\n",
      "asked.csv", course_.labs);
  ASSERT_TRUE(asked) << base::to_string(asked.error());
  request_.requests = *asked;
  request_.intake.sources.clear();
  int runs = 0;
  request_.grade_one = [&runs](const OneRequest& one) {
    ++runs;
    return fake_grade(one);
  };
  ASSERT_TRUE(run_batch(request_));
  EXPECT_EQ(runs, 3);
  const auto table = base::read_csv(text("regrade-decisions.csv"), "d");
  ASSERT_TRUE(table && table->rows.size() == 4);
  const auto decision = *table->column("decision");
  EXPECT_EQ(table->rows[0][*table->column("score_after")], "6") << "the mark by hand stays";
  EXPECT_EQ(table->rows[1][*table->column("verdict_before")], "INFRA_ERROR");
  EXPECT_EQ(table->rows[1][decision], "changed");
  EXPECT_EQ(table->rows[2][decision], "unchanged");
  EXPECT_EQ(table->rows[3][decision], "nobody of that name has a grade for it");
  EXPECT_FALSE(read_requests("a,b\n1,2\n", "asked.csv", course_.labs));
}

}  // namespace
}  // namespace membound::queue
