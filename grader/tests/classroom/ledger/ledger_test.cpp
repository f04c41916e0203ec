// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/ledger.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"

namespace membound::ledger {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPlan = "{}\n";

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    std::string pattern = (fs::temp_directory_path() / "membound-ledger-XXXXXX").string();
    out_ = mkdtemp(pattern.data());
    std::ofstream(out_ / "batch.json") << kPlan;
  }
  ~LedgerTest() override { fs::remove_all(out_); }

  static std::string key(char c) { return std::string(64, c); }
  static course::Grade grade(double score) {
    course::Grade one;
    one.lab = "03-transpose";
    one.verdict = course::GradeVerdict::kPass;
    one.score = score;
    one.seed = 0xffff'ffff'ffff'fff0;
    one.ratio = 0.1 + 0.2;  // no short decimal
    one.result.lab = one.lab;
    return one;
  }
  /// A ledger with jobs a, b and c, caught up.
  Ledger opened(int quarantine_after = 2) {
    auto ledger = Ledger::open(out_, {.quarantine_after = quarantine_after});
    EXPECT_TRUE(ledger) << (ledger ? "" : base::to_string(ledger.error()));
    EXPECT_TRUE(ledger->plan(base::sha256(kPlan), {key('a'), key('b'), key('c')}));
    const auto found = ledger->reconcile();
    EXPECT_TRUE(found);
    reconciled_ = *found;
    return std::move(*ledger);
  }
  /// Runs `work` on an opened ledger in a process that `point` kills; it must be killed.
  void killed(const std::string& point, const std::function<void(Ledger&)>& work) {
    const pid_t child = fork();
    if (child == 0) {
      Ledger ledger = opened(1000);
      setenv("MEMBOUND_FAILPOINT", point.c_str(), 1);
      work(ledger);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << point;
  }
  std::vector<std::string> problems() {
    const auto found = verify(out_);
    EXPECT_TRUE(found) << (found ? "" : base::to_string(found.error()));
    return found ? found->problems : std::vector<std::string>{"no answer"};
  }
  fs::path file(char c, int round = 1) const {
    return out_ / "results" / record_name(key(c), round);
  }
  void edit_database(const std::string& statement) const {
    SQLite::Database((out_ / "ledger.sqlite").string(), SQLite::OPEN_READWRITE).exec(statement);
  }
  static std::string content(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path out_;
  Reconciled reconciled_;
};

TEST_F(LedgerTest, AFinishedJobHasItsVerdict) {
  Ledger ledger = opened();
  ASSERT_TRUE(ledger.lease(key('a')));
  ASSERT_TRUE(ledger.finish(key('a'), grade(7.5)));
  const auto verdicts = read_verdicts(out_);
  ASSERT_TRUE(verdicts);
  EXPECT_EQ(nlohmann::json(verdicts->grades.at(key('a'))), nlohmann::json(grade(7.5)));
  EXPECT_EQ(verdicts->grades.size(), 1u);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LedgerTest, TheSecretIsForItsOwnerOnly) {
  opened();
  struct stat facts {};
  ASSERT_EQ(stat((out_ / "key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(LedgerTest, OneGraderAtATime) {
  const Ledger ledger = opened();
  const auto second = Ledger::open(out_, {});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().found, HasSubstr("is being graded by another membound"));
}

TEST_F(LedgerTest, AJobIsFinishedOnce) {
  Ledger ledger = opened();
  ASSERT_TRUE(ledger.finish(key('a'), grade(1)));
  EXPECT_FALSE(ledger.finish(key('a'), grade(2)));
}

TEST_F(LedgerTest, RegradingKeepsTheOldVerdictInTheChain) {
  Ledger ledger = opened();
  ASSERT_TRUE(ledger.finish(key('a'), grade(1)));
  ASSERT_TRUE(ledger.regrade(key('a')));
  ASSERT_TRUE(ledger.finish(key('a'), grade(2)));
  EXPECT_EQ(read_verdicts(out_)->grades.at(key('a')).score, 2);
  EXPECT_EQ(verify(out_)->verdicts, 2);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LedgerTest, AttemptsAreCounted) {
  Ledger ledger = opened();
  ASSERT_TRUE(ledger.lease(key('a')));
  EXPECT_EQ(*ledger.count_attempt(key('a')), 1);
  EXPECT_EQ(*ledger.count_attempt(key('a')), 2);
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQueued);
}

TEST_F(LedgerTest, CtrlCIsNoDeath) {
  {
    Ledger ledger = opened();
    ASSERT_TRUE(ledger.lease(key('a')));
  }
  Ledger ledger = opened();
  EXPECT_EQ(ledger.job(key('a'))->deaths, 0);
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQueued);
}

TEST_F(LedgerTest, WhatRanWhenTheGraderDiedTwiceIsQuarantined) {
  if (!base::has_failpoints()) GTEST_SKIP() << "built without failpoints";
  const auto die = [](Ledger& ledger) {
    ASSERT_TRUE(ledger.lease(key('a')));
    kill(getpid(), SIGKILL);
  };
  killed("none", die);
  EXPECT_EQ(opened(2).job(key('a'))->state, State::kQueued);
  killed("none", die);
  Ledger ledger = opened(2);
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQuarantined);
  EXPECT_EQ(ledger.job(key('b'))->state, State::kQueued);
  ASSERT_TRUE(ledger.regrade(key('a')));
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQueued);
}

TEST_F(LedgerTest, KilledBetweenFileAndLedgerTheFileCounts) {
  if (!base::has_failpoints()) GTEST_SKIP() << "built without failpoints";
  for (const char* point : {"result.renamed", "ledger.before_commit"}) {
    killed(point, [](Ledger& ledger) { (void)ledger.finish(key('a'), grade(3)); });
    Ledger ledger = opened();
    EXPECT_EQ(reconciled_.taken_over, 1) << point;
    EXPECT_EQ(read_verdicts(out_)->grades.at(key('a')).score, 3) << point;
    EXPECT_THAT(problems(), IsEmpty()) << point;
    ASSERT_TRUE(ledger.regrade(key('a')));
  }
}

TEST_F(LedgerTest, KilledBeforeTheRenameTheJobIsOpen) {
  if (!base::has_failpoints()) GTEST_SKIP() << "built without failpoints";
  killed("result.written", [](Ledger& ledger) { (void)ledger.finish(key('a'), grade(3)); });
  const Ledger ledger = opened();
  EXPECT_EQ(reconciled_.swept, 1);
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQueued);
}

TEST_F(LedgerTest, AFullDiskIsAnErrorAndTheJobStaysOpen) {
  if (!base::has_failpoints()) GTEST_SKIP() << "built without failpoints";
  Ledger ledger = opened();
  setenv("MEMBOUND_FAILPOINT", "result.written=full", 1);
  const auto finished = ledger.finish(key('a'), grade(3));
  unsetenv("MEMBOUND_FAILPOINT");
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().found, HasSubstr("No space left on device"));
  EXPECT_TRUE(ledger.finish(key('a'), grade(3)));
}

TEST_F(LedgerTest, APlantedResultIsPutAside) {
  opened();
  fs::create_directories(out_ / "results");
  std::ofstream(file('a')) << to_text({key('a'), 1, grade(100)}, std::string(64, 'x'));
  const Ledger ledger = opened();
  EXPECT_EQ(ledger.job(key('a'))->state, State::kQueued);
  EXPECT_TRUE(fs::exists(out_ / "damaged" / record_name(key('a'), 1)));
  EXPECT_EQ(reconciled_.notes.size(), 1u);
}

TEST_F(LedgerTest, AResultUnderAnotherJobsNameIsPutAside) {
  Ledger first = opened();
  ASSERT_TRUE(first.finish(key('a'), grade(100)));
  { const Ledger gone = std::move(first); }
  fs::copy_file(file('a'), file('b'));
  EXPECT_EQ(opened().job(key('b'))->state, State::kQueued);
}

class Tampering : public LedgerTest {
 protected:
  Tampering() {
    Ledger ledger = opened();
    EXPECT_TRUE(ledger.finish(key('a'), grade(1)));
    EXPECT_TRUE(ledger.finish(key('b'), grade(2)));
  }
};

TEST_F(Tampering, AChangedResultIsFound) {
  std::string text = content(file('a'));
  text.replace(text.find("\"score\": 1"), 10, "\"score\": 9");
  std::ofstream(file('a')) << text;
  EXPECT_THAT(problems(), Contains(HasSubstr("its signature is wrong")));
  EXPECT_FALSE(read_verdicts(out_));
}

TEST_F(Tampering, AChangedEntryIsFound) {
  edit_database("UPDATE entry SET summary = replace(summary, 'PASS', 'CRASH') WHERE number = 2");
  EXPECT_THAT(problems(), Contains(HasSubstr("entry 2 of the ledger was changed")));
}

TEST_F(Tampering, AnEntryTakenOutOfTheMiddleIsFound) {
  edit_database("DELETE FROM entry WHERE number = 2");
  EXPECT_THAT(problems(), Contains(HasSubstr("entries before it are missing")));
}

TEST_F(Tampering, AnEntryTakenFromTheEndIsFound) {
  edit_database("DELETE FROM entry WHERE number = 3");
  EXPECT_THAT(problems(), Contains(HasSubstr("is not in the ledger")));
  EXPECT_THAT(problems(), Contains(HasSubstr("has no verdict")));
}

TEST_F(Tampering, SwappedEntriesAreFound) {
  edit_database("UPDATE entry SET number = 99 WHERE number = 2");
  edit_database("UPDATE entry SET number = 2 WHERE number = 3");
  edit_database("UPDATE entry SET number = 3 WHERE number = 99");
  EXPECT_FALSE(problems().empty());
}

TEST_F(Tampering, ADeletedResultIsFound) {
  fs::remove(file('a'));
  EXPECT_THAT(problems(), Contains(HasSubstr("is missing")));
}

TEST_F(Tampering, AChangedPlanIsFound) {
  std::ofstream(out_ / "batch.json") << "{\"rows\": []}";
  EXPECT_THAT(problems(), Contains(HasSubstr("batch.json was changed")));
}

TEST_F(Tampering, AnotherKeyFindsEverythingWrong) {
  fs::permissions(out_ / "key", fs::perms::owner_all);
  std::ofstream(out_ / "key") << std::string(64, '0');
  EXPECT_FALSE(problems().empty());
}

TEST(Record, TheSameRecordGivesTheSameBytes) {
  course::Grade grade;
  grade.lab = "x";
  grade.result.lab = "x";
  grade.note = "\xff not UTF-8";
  const Record record{std::string(64, 'a'), 1, grade};
  const std::string text = to_text(record, "secret secret secret secret secret");
  const auto read = record_from_text(text, "f", "secret secret secret secret secret");
  ASSERT_TRUE(read);
  EXPECT_EQ(to_text(*read, "secret secret secret secret secret"), text);
}

}  // namespace
}  // namespace membound::ledger
