// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "grader/base/files.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using testing::HasSubstr;
using testing::Not;

/// s005 and s006 handed in one text; s003 is marked and commented.
class ForgetTest : public BatchTest {
 protected:
  ForgetTest() {
    std::string roster = "id,name,email\n";
    for (int i = 0; i < 12; ++i) {
      const std::string number = std::to_string(100 + i).substr(1);
      roster += "s0" + number + ",Person Number" + number + ",p" + number + "@x.org\n";
    }
    request_.intake.roster = *intake::Roster::from_text(roster, "roster.csv");
    request_.roster_text = roster;
    run();
    EXPECT_TRUE(mark_by_hand({out(), "", {{"s003", "01-quick", 0, 5, "for Number03"}}}));
    EXPECT_TRUE(comment_line({out(), "", "s003", "01-quick", 1, "Number03, why?"}));
    write_text(out() / "report" / "students" / "s003.html", "Person Number03");
    write_text(out() / "export" / "canvas" / "canvas.csv", "Person Number03");
  }
  fs::path out() const { return folder_ / "out"; }
  Forgotten forget(const std::string& student) {
    const auto found = forget_student({out(), "", student});
    EXPECT_TRUE(found) << (found ? "" : base::to_string(found.error()));
    return found ? *found : Forgotten();
  }
  /// Files of OUT whose name or content says one of these.
  std::vector<std::string> naming(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(out())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string text = entry.path().filename().string() +
                               std::string(std::istreambuf_iterator<char>(stream), {});
      if (std::any_of(words.begin(), words.end(),
                      [&text](const auto& word) { return text.find(word) != std::string::npos; }))
        found.push_back(entry.path().string());
    }
    return found;
  }
  std::map<std::string, std::size_t> verdict_counts() const {
    std::map<std::string, std::size_t> counts;
    const auto all = read_class(out(), {}, Detail::kSummary);
    for (const course::Grade& grade : all->grades) ++counts[verdict_words(grade)];
    for (const auto& grade : all->forgotten) ++counts[grade.verdict];
    return counts;
  }
};

TEST_F(ForgetTest, NoByteOfTheResultsFolderNamesThePersonAnyMore) {
  const std::vector<std::string> words = {"s003", "Number03", "p03@x.org"};
  EXPECT_GT(naming(words).size(), 5U);
  const Forgotten found = forget("p03@x.org");
  EXPECT_EQ(found.rows, 1U);
  EXPECT_EQ(found.verdicts, 1U);
  EXPECT_EQ(found.texts, 1U);
  ASSERT_EQ(found.outside.size(), 1U);
  EXPECT_THAT(found.outside[0], HasSubstr("/in"));
  EXPECT_EQ(naming(words), std::vector<std::string>());
}

TEST_F(ForgetTest, EverybodyElseStaysAndTheLedgerIsWhole) {
  const std::string before = csv();
  forget("s003");
  std::string expected;
  for (std::size_t start = 0; start < before.size();) {
    const auto end = before.find('\n', start) + 1;
    const std::string line = before.substr(start, end - start);
    if (!line.starts_with("s003")) expected += line;
    start = end;
  }
  EXPECT_EQ(csv(), expected);
  const auto found = ledger::verify(out());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problems, std::vector<std::string>());
  EXPECT_EQ(found->marks, 0);
}

TEST_F(ForgetTest, TheAggregatesStay) {
  const auto before = verdict_counts();
  forget("s003");
  forget("s004");
  EXPECT_EQ(verdict_counts(), before);
}

TEST_F(ForgetTest, ATextThatSomebodyElseHandedInStays) {
  const Forgotten found = forget("s005");
  EXPECT_EQ(found.texts, 0U);
  EXPECT_EQ(found.verdicts, 0U);
  EXPECT_THAT(csv(), HasSubstr("s006,01-quick"));
}

TEST_F(ForgetTest, NoLaterCallTakesThePersonInAgain) {
  forget("s003");
  const auto summary = run();
  for (const course::Grade& grade : summary.grades.grades) EXPECT_NE(grade.student, "s003");
  EXPECT_THAT(csv(), Not(HasSubstr("s003")));
  const std::string digest = base::sha256("__global__ void quick(int*);  // 3\n");
  EXPECT_FALSE(fs::exists(out() / "store" / "sha256" / digest));
  EXPECT_EQ(ledger::verify(out())->problems, std::vector<std::string>());
}

TEST_F(ForgetTest, TwiceIsOnce) {
  forget("s003");
  const std::string before = csv();
  EXPECT_EQ(forget("s003").rows, 0U);
  EXPECT_EQ(csv(), before);
  EXPECT_FALSE(forget_student({out(), "", "nobody"}));
}

TEST_F(ForgetTest, GoesOnAfterAKillBehindThePlan) {
  // As if it had ended there: the plan of the whole call, the ledger and files of before.
  fs::copy(out(), folder_ / "kept", fs::copy_options::recursive);
  forget("s003");
  const auto plan = base::read_file(out() / "batch.json");
  fs::remove_all(out());
  fs::rename(folder_ / "kept", out());
  write_text(out() / "batch.json", *plan);
  forget("s003");
  EXPECT_EQ(naming({"s003", "Number03"}), std::vector<std::string>());
  EXPECT_EQ(ledger::verify(out())->problems, std::vector<std::string>());
}

}  // namespace
}  // namespace membound::queue
