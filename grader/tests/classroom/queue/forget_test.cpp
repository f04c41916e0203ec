// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>

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
  ASSERT_EQ(found.cleaned.size(), 1U);
  EXPECT_THAT(found.cleaned[0], HasSubstr("/in"));
  EXPECT_EQ(naming(words), std::vector<std::string>());
}

/// What is left of a folder or archive that was handed in, as text: names and contents.
std::string all_of(const fs::path& place) {
  std::string text;
  if (!fs::is_directory(place)) {
    FILE* const tar = popen(
        ("tar xOf '" + place.string() + "' 2>&1; tar tf '" + place.string() + "' 2>&1").c_str(),
        "r");
    for (int c = std::fgetc(tar); c != EOF; c = std::fgetc(tar)) text += static_cast<char>(c);
    pclose(tar);
    return text;
  }
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    text += entry.path().lexically_relative(place).string() + "\n";
    if (entry.is_regular_file()) text += *base::read_file(entry.path());
  }
  return text;
}

constexpr const char* kMetadata =
    "submission_1:\n  :submitters:\n  - :name: Person Number03\n    :sid: s003\n"
    "    :email: p03@x.org\n  :created_at: 2026-11-20 10:00:00 +0000\n"
    "submission_2:\n  :submitters:\n  - :name: Person Number04\n    :sid: s004\n"
    "    :email: p04@x.org\n  - :name: Person Number03\n    :sid: s003\n"
    "    :email: p03@x.org\n  :created_at: 2026-11-21 10:00:00 +0000\n"
    "submission_3:\n  :submitters:\n  - :name: Person Number05\n    :sid: s005\n"
    "    :email: p05@x.org\n  :created_at: 2026-11-20 10:00:00 +0000\n";

/// The same class handed in something more, as a platform gives it out.
class ForgetInArchives : public ForgetTest,
                         public testing::WithParamInterface<std::pair<const char*, bool>> {
 protected:
  /// As a folder, or packed; the call that takes it in.
  void hand_in(const std::map<std::string, std::string>& files) {
    place_ = folder_ / "more";
    for (const auto& [name, text] : files) write_text(place_ / "export" / name, text);
    if (GetParam().second) {
      const fs::path packed = folder_ / "more.tar.gz";
      const std::string command =
          "tar czf '" + packed.string() + "' -C '" + place_.string() + "' export";
      ASSERT_EQ(std::system(command.c_str()), 0);
      fs::remove_all(place_);
      place_ = packed;
    }
    request_.intake.sources = {place_};
    run();
  }
  fs::path place_;
};

TEST_P(ForgetInArchives, OnlyThePersonsOwnWorkGoes) {
  const std::string layout = GetParam().first;
  std::map<std::string, std::string> files;
  const auto add = [&](const std::string& name, const std::string& text) {
    files[name] = "__global__ void quick(int*);  // " + text + "\n";
  };
  if (layout == "plain") {
    add("s003/attempt-1/kernel.cu", "mine, early");
    add("s003/attempt-2/kernel.cu", "mine, late");
    files["s003/notes.txt"] = "mine, notes";
    add("s004/kernel.cu", "another's");
    add("s005/kernel.cu", "another's");
  } else if (layout == "canvas") {
    request_.intake.people = {
        *intake::read_people_table("id,name,canvas_id\ns003,Person Number03,4703\n"
                                   "s004,Person Number04,4704\n",
                                   "people.csv")};
    add("number03_4703_901_kernel.cu", "mine, early");
    add("number03_4703_902_kernel-1.cu", "mine, late");
    add("number04_4704_903_kernel.cu", "another's");
  } else {
    files["submission_metadata.yml"] = kMetadata;
    add("submission_1/kernel.cu", "mine, alone");
    add("submission_2/kernel.cu", "another's");
    add("submission_3/kernel.cu", "another's");
  }
  hand_in(files);
  EXPECT_THAT(all_of(place_), HasSubstr("mine"));
  const std::string before = csv();
  const Forgotten found = forget("s003");
  const std::string left = all_of(place_);
  EXPECT_THAT(left, Not(HasSubstr("mine")));
  EXPECT_THAT(left, Not(HasSubstr("s003")));
  EXPECT_THAT(left, Not(HasSubstr("umber03")));
  EXPECT_THAT(left, HasSubstr("another's"));
  EXPECT_THAT(found.cleaned, testing::Contains(fs::weakly_canonical(place_).string()));
  if (layout == "gradescope") {
    EXPECT_THAT(left, HasSubstr("s004"));
    EXPECT_THAT(left, HasSubstr("submission_2/kernel.cu")) << "of a group";
    EXPECT_THAT(found.outside, testing::Contains(HasSubstr("which the others share")));
  }
  // Whoever is left has the same grades when all is taken in again.
  run();
  for (std::size_t start = 0; start < before.size();) {
    const auto end = before.find('\n', start) + 1;
    const std::string line = before.substr(start, end - start);
    if (!line.starts_with("s003")) {
      EXPECT_THAT(csv(), HasSubstr(line));
    }
    start = end;
  }
}

TEST_P(ForgetInArchives, NothingOutsideIsTouchedWhereThatIsSaid) {
  hand_in({{"s003/kernel.cu", "__global__ void quick(int*);  // mine\n"},
           {"s004/kernel.cu", "__global__ void quick(int*);  // another's\n"}});
  const auto found = forget_student({out(), "", "s003", true});
  ASSERT_TRUE(found);
  EXPECT_THAT(all_of(place_), HasSubstr("mine"));
  EXPECT_EQ(found->cleaned, std::vector<std::string>());
  EXPECT_THAT(found->outside, testing::Contains(HasSubstr("--keep-archives")));
}

INSTANTIATE_TEST_SUITE_P(Platforms, ForgetInArchives,
                         testing::Values(std::pair("plain", false), std::pair("plain", true),
                                         std::pair("canvas", false), std::pair("canvas", true),
                                         std::pair("gradescope", false),
                                         std::pair("gradescope", true)));

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

TEST_F(ForgetTest, WhatWasMovedAwayIsSaid) {
  fs::rename(folder_ / "in", folder_ / "elsewhere");
  EXPECT_THAT(forget("s003").outside, testing::Contains(HasSubstr("/in: not there any more")));
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
