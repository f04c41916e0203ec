// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/strings.hpp"

namespace membound::base {
namespace {

TEST(Decimal, HasAsManyDigitsAsAskedFor) {
  EXPECT_EQ(decimal(7.5, 2), "7.50");
  EXPECT_EQ(decimal(0, 0), "0");
}

TEST(Decimal, WritesTheLargestNumber) {
  EXPECT_EQ(decimal(std::numeric_limits<double>::max(), 2).size(), 312U);
}

TEST(Counted, OneIsSingularAndAllElsePlural) {
  EXPECT_EQ(counted(1, "wavefront"), "1 wavefront");
  EXPECT_EQ(counted(0, "wavefront"), "0 wavefronts");
  EXPECT_EQ(counted(std::size_t{2}, "more kernel"), "2 more kernels");
  EXPECT_EQ(noun_after(1, "access"), "access");
  EXPECT_EQ(noun_after(0.5, "block"), "blocks");
}

TEST(Counted, NounsThatTakeMoreThanAnS) {
  EXPECT_EQ(counted(3, "launch"), "3 launches");
  EXPECT_EQ(counted(3, "graph"), "3 graphs");
  EXPECT_EQ(counted(3, "access"), "3 accesses");
  EXPECT_EQ(counted(3, "entry"), "3 entries");
}

TEST(Joined, SeparatorsStandBetweenWords) {
  EXPECT_EQ(joined(std::vector<std::string>{"one", "two", "three"}), "one, two, three");
  EXPECT_EQ(joined(std::set<std::string>{"a", "b"}, " | "), "a | b");
  EXPECT_EQ(joined(std::vector<std::string>{"one"}), "one");
  EXPECT_EQ(joined(std::vector<std::string>{}), "");
}

TEST(Joined, AWordGoesToTheEndOfAList) {
  std::string list;
  add_word(list, "one");
  add_word(list, "two");
  add_word(list, "three", " and ");
  EXPECT_EQ(list, "one, two and three");
}

TEST(Joined, ANoteSaysOnlyWhatThereIsToSay) {
  std::string note;
  add_note(note, "");
  EXPECT_EQ(note, "");
  add_note(note, "late");
  add_note(note, "");
  add_note(note, "in quarantine");
  EXPECT_EQ(note, "late; in quarantine");
}

TEST(FileName, KeepsPlainNames) { EXPECT_EQ(file_name("doe-12_3.b"), "doe-12_3.b"); }

TEST(FileName, LeadsNowhereElse) {
  EXPECT_EQ(file_name("../etc"), "%2E.%2Fetc");
  EXPECT_EQ(file_name(".."), "%2E.");
  EXPECT_EQ(file_name(""), "%");
  EXPECT_EQ(file_name("a b\x1b"), "a%20b%1B");
}

TEST(FileName, FitsOnEveryFileSystemWithAnEndingBehind) {
  for (const char letter : {'x', '/', '\xff'})
    EXPECT_LE(file_name(std::string(5000, letter)).size() + std::string(".results.json").size(),
              255U);
}

TEST(FileName, KeepsLongTextsApart) {
  const std::string text(kMostFileNameBytes, 'x');
  EXPECT_EQ(file_name(text), text);
  EXPECT_NE(file_name(text + "x"), file_name(text + "xx"));
  EXPECT_NE(file_name(text + "ab"), file_name(text + "ba"));
}

TEST(FileName, DiffersWhereTextsDiffer) {
  std::mt19937 random(3);
  std::set<std::string> texts, names;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (unsigned k = 0; k < random() % 5; ++k) text += "a.%2E/ "[random() % 7];
    texts.insert(text);
    names.insert(file_name(text));
  }
  EXPECT_EQ(texts.size(), names.size());
}

}  // namespace
}  // namespace membound::base
