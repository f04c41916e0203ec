// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Handouts that a reader would stumble over. That the course's own are none,
// labs.NN.agrees_with_itself holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/authoring/handout_check.hpp"
#include "grader/authoring/lab_check.hpp"
#include "grader/base/files.hpp"
#include "grader/course/lab.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::vector<report::Term> kTerms = {{{"shared memory"}, "of a block"},
                                          {{"SM", "multiprocessor"}, "runs blocks"},
                                          {{"lane"}, "a place"}};

class Reading : public testing::Test {
 protected:
  static LabFolders folders_of(const std::string& id, const std::filesystem::path& root) {
    course::Lab lab;
    lab.id = id;
    return {lab, root};
  }
  void write(const std::string& file, const std::string& text) const {
    ASSERT_TRUE(base::write_file(scratch_.path() / file, text));
  }
  /// What is found in a second lab whose handout is `page`, after one whose handout is `earlier`.
  std::vector<std::string> found_in(const std::string& page,
                                    const std::string& earlier = "") const {
    write("handouts/00-before/handout.md", earlier);
    write("handouts/01-copy/handout.md", page);
    Drifts drifts;
    check_reading(folders_of("01-copy", scratch_.path()),
                  {folders_of("00-before", scratch_.path())}, kTerms, drifts);
    std::vector<std::string> texts;
    for (const Drift& drift : drifts)
      texts.push_back(drift.file + ":" + std::to_string(drift.line) + ": " + drift.found);
    return texts;
  }

  const base::ScratchFolder scratch_{"reading-test"};
};

TEST_F(Reading, ATermIsExplainedWhereItIsUsedFirst) {
  EXPECT_THAT(found_in("# A\n\nText.\nEach lane waits. A **lane** is a place.\n"), IsEmpty());
  EXPECT_THAT(found_in("# A\n\nText.\nEach lane waits.\n\nA **lane** is a place.\n"),
              ElementsAre("handouts/01-copy/handout.md:4: nothing read so far explains \"lane\""));
  EXPECT_THAT(
      found_in("| lane | Multiprocessors |\n"),
      UnorderedElementsAre(HasSubstr(":1: nothing read so far explains \"lane\""),
                           HasSubstr(":1: nothing read so far explains \"Multiprocessors\"")));
  EXPECT_THAT(found_in("in **shared\nmemory**\n"), IsEmpty());
  EXPECT_THAT(found_in("text\nin shared\nmemory\n"), ElementsAre(HasSubstr(":2:")));
}

TEST_F(Reading, AnEarlierHandoutExplainsTermsForLaterOnes) {
  EXPECT_THAT(found_in("Each lane waits.\n", "A **lane** is a place.\n"), IsEmpty());
  // What an earlier one leaves open is its own fault, told there.
  EXPECT_THAT(found_in("Each lane waits.\n", "Lanes.\n"), IsEmpty());
}

TEST_F(Reading, BoldWordsAroundATermExplainNothing) {
  EXPECT_THAT(found_in("**No lane waits.**\n"), ElementsAre(HasSubstr("\"lane\"")));
}

TEST_F(Reading, AFoldExplainsForItselfOnly) {
  const std::string fold =
      "<details>\n<summary>More</summary>\n\nA **lane** is a place.\n\nLanes wait.\n</details>\n";
  EXPECT_THAT(found_in(fold), IsEmpty());
  EXPECT_THAT(found_in(fold + "\nA lane waits.\n"), ElementsAre(HasSubstr(":9:")));
}

TEST_F(Reading, HeadingsCaptionsCodeAndAddressesUseNoTerm) {
  EXPECT_THAT(found_in("# Lanes\n\n![a lane](lane.svg)\n\n```cpp\nlane\n```\n<!-- lane -->\n"
                       "`lane`, [here](lane.md), <code>lane</code>, planes, lane_of\n"),
              IsEmpty());
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += i % 10 == 9 ? "word\n" : "word ";
  return text + "\n";
}

TEST_F(Reading, ThereIsNotMuchBeforeTheFirstTask) {
  const std::string unread =
      "\n<details>\n<summary>not</summary>\nnot\n</details>\n```cpp\nnot();\n```\n| not |\n"
      "<!-- not -->\n";
  EXPECT_THAT(found_in(words(900) + unread + "### Stage 1: copy\n"), IsEmpty());
  EXPECT_THAT(found_in(words(900) + "one\n\n### Stage 1: copy\n"),
              ElementsAre(HasSubstr(": 901 words stand before \"### Stage 1: copy\"")));
  EXPECT_THAT(found_in("### Stage 1: copy\n" + words(2497) + unread + "## After you are done\n"),
              IsEmpty());
  EXPECT_THAT(found_in("### Stage 1: copy\n" + words(2498) + "## After you are done\n"),
              ElementsAre(HasSubstr(": 2501 words stand before")));
}

TEST_F(Reading, PhrasesAreThoseOfATextbook) {
  EXPECT_THAT(found_in("One\nin place of two. That would do.\n"),
              ElementsAre(HasSubstr("handout.md:2: readers stumble over \"in place of\"")));
  for (const char* file : {"README.md", "lab.json", "kernel.cu"}) {
    write(std::string("labs/01-copy/") + file, "\nAsk your instructor.\n");
    EXPECT_THAT(found_in(""), ElementsAre(HasSubstr(std::string(file) + ":2: ")));
    write(std::string("labs/01-copy/") + file, "Ask nobody.\n");
  }
}

}  // namespace
}  // namespace membound::authoring
