// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the corpus promises: enough attacks, each with its parts, and honest ones beside them.
#include "grader/classroom/selftest/corpus.hpp"

#include <gmock/gmock.h>

#include <set>
#include <string_view>

#include "grader/base/files.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

std::vector<Case> corpus(const char* name) {
  const auto all = read_corpus(fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests" / name);
  EXPECT_TRUE(all) << base::to_string(all.error());
  return all ? *all : std::vector<Case>{};
}

TEST(Corpus, HoldsAtLeastAHundredOfTheAttacksThatCanBeTriedHere) {
  std::set<int> rows;
  for (const Case& one : corpus("attacks"))
    if (one.kind != CaseKind::kGpu) rows.insert(one.number);
  EXPECT_GE(rows.size(), 100u);
  EXPECT_FALSE(rows.contains(0));
}

TEST(Corpus, HoldsAtLeastTwentyFiveHonestSubmissions) {
  const auto honest = corpus("honest");
  EXPECT_GE(honest.size(), 25u);
  for (const Case& one : honest) EXPECT_EQ(one.number, 0) << one.id;
}

TEST(Corpus, NoAttackMayPass) {
  for (const Case& one : corpus("attacks")) {
    EXPECT_FALSE(one.expected.empty()) << one.id;
    EXPECT_THAT(one.expected, testing::Not(testing::Contains("PASS"))) << one.id;
    EXPECT_FALSE(one.defence.empty()) << one.id;
  }
}

TEST(Corpus, ACompilerOfItsOwnKindHasExpectationsOfItsOwn) {
  Case one;
  one.expected = {"FAIL_WRONG"};
  one.expected_with["clang"] = {"COMPILE_ERROR"};
  EXPECT_EQ(expected_of(one, "nvcc", "vgpu:h200"), std::vector<std::string>{"FAIL_WRONG"});
  EXPECT_EQ(expected_of(one, "clang", "vgpu:h200"), std::vector<std::string>{"COMPILE_ERROR"});
}

/// The names that `switched_off("…")` asks for anywhere in the grader.
std::set<std::string> switches() {
  constexpr std::string_view kAsk = "switched_off(\"";
  std::set<std::string> names;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(MEMBOUND_SOURCE_DIR) / "grader")) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".cpp" || path.find("/tests/") != std::string::npos) continue;
    const auto text = base::read_file(entry.path());
    if (!text) continue;
    for (auto at = text->find(kAsk); at != std::string::npos; at = text->find(kAsk, at + 1)) {
      const auto begin = at + kAsk.size();
      names.insert(text->substr(begin, text->find('"', begin) - begin));
    }
  }
  return names;
}

TEST(Corpus, HasAnAttackForEverySwitch) {
  std::string all = ",";
  for (const Case& one : corpus("attacks")) all += one.switch_off + ",";
  // Chooses how limits are enforced; switches none of them off.
  constexpr std::string_view kNoDefence = "jail.cgroup";
  for (const std::string& name : switches()) {
    if (name == kNoDefence) continue;
    EXPECT_THAT(all, testing::HasSubstr("," + name + ",")) << name;
  }
  EXPECT_GE(switches().size(), 20u);
}

TEST(Corpus, EveryCaseHasItsParts) {
  for (const char* name : {"attacks", "honest"})
    for (const Case& one : corpus(name)) {
      EXPECT_EQ(one.submission.empty(), one.kind == CaseKind::kIntake || one.kind == CaseKind::kGpu)
          << one.id;
      EXPECT_EQ(one.generator.empty(), one.kind != CaseKind::kIntake) << one.id;
    }
}

/// What stands between two marks of a file.
std::string part_of(const fs::path& file, const std::string& from, const std::string& to) {
  const auto text = base::read_file(file);
  if (!text) return "";
  const auto start = text->find(from);
  const auto end = text->find(to);
  if (start == std::string::npos || end == std::string::npos) return "";
  return text->substr(start + from.size(), end - start - from.size());
}

TEST(Corpus, IsWhatTheDocumentationShows) {
  const fs::path page = fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests/attacks/corpus.md";
  EXPECT_EQ(part_of(page, "<!-- attacks -->\n", "<!-- /attacks -->"),
            markdown_table(corpus("attacks")))
      << "write it anew: membound selftest --table";
  EXPECT_EQ(part_of(page, "<!-- honest -->\n", "<!-- /honest -->"),
            markdown_table(corpus("honest")));
}

/// A corpus of one case in a folder of its own, with one frame.
class SmallCorpus : public testing::Test {
 protected:
  base::Result<Case> read(const std::string& text) {
    const fs::path file = folder_.path() / "attacks/B-compile/31b-smid.case";
    EXPECT_TRUE(base::write_file(folder_.path() / "frames/reverse_direct.frame",
                                 "one\n@before@\ntwo\n@kernel@\nthree\n"));
    EXPECT_TRUE(base::write_file(file, text));
    return read_case(file);
  }
  std::string found(const std::string& text) {
    const auto one = read(text);
    return one ? "" : one.error().found;
  }

  base::ScratchFolder folder_{"corpus-test"};
};

TEST_F(SmallCorpus, SaysWhatIsWrongWithACase) {
  const auto none = read_corpus(folder_.path());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().found, "holds no case");
  EXPECT_EQ(found("title\n"), "\"title\" is no line of a head");
  EXPECT_EQ(found("colour: red\n"), "\"colour: red\" says nothing of a case");
  EXPECT_EQ(found("title: a\nstage: one\n"), "\"stage: one\" says nothing of a case");
  EXPECT_EQ(found("title: a\n"), "does not say what it is, or what must come of it");
  EXPECT_EQ(found("title: a\nexpected: PASS\n"), "hands in nothing");
  EXPECT_EQ(found("title: a\nexpected: PASS\n--- launch\n"),
            "\"launch\" has no place in the frame reverse_direct");
}

TEST_F(SmallCorpus, PutsSectionsIntoTheFrame) {
  const auto one = read(
      "title: a\n# a remark\ndefence: b\nexpected: FAIL_WRONG, CRASH\nexpected with clang: PASS\n"
      "--- kernel\n  # no remark\n\n");
  ASSERT_TRUE(one) << base::to_string(one.error());
  EXPECT_EQ(one->id, "B-compile/31b-smid");
  EXPECT_EQ(one->number, 31);
  EXPECT_EQ(one->kind, CaseKind::kGrade);
  EXPECT_EQ(one->expected, (std::vector<std::string>{"FAIL_WRONG", "CRASH"}));
  EXPECT_EQ(expected_of(*one, "clang", "vgpu"), std::vector<std::string>{"PASS"});
  EXPECT_EQ(one->submission, "one\ntwo\n  # no remark\n\nthree\n");
}

TEST_F(SmallCorpus, TakesAWholeFileByteForByte) {
  const auto script =
      read("title: a\nexpected: EXIT 1\n--- attack.sh\nexit 1\r\n\xff no line feed");
  ASSERT_TRUE(script) << base::to_string(script.error());
  EXPECT_EQ(script->kind, CaseKind::kJail);
  EXPECT_EQ(script->submission, "exit 1\r\n\xff no line feed");
}

}  // namespace
}  // namespace membound::selftest
