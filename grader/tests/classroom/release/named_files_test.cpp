// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student reads names files that a student has. A file that stays here is said to be in
/// Membound's repository.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "grader/classroom/release/student_files.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const fs::path kSource = MEMBOUND_SOURCE_DIR;
constexpr std::string_view kSaid = "Membound's repository";

/// A paragraph, or an item of a list, with the code below it.
struct Paragraph {
  std::string text;
  int line;  ///< of its beginning, from 1
};

std::vector<Paragraph> paragraphs_of(const std::string& page) {
  std::vector<Paragraph> all;
  std::istringstream lines(page);
  bool in_code = false, ended = true;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool is_fence = line.starts_with("```");
    if (line.starts_with("<!--")) continue;
    if (line.empty() && !in_code) {
      ended = true;
      continue;
    }
    const bool begins = !in_code && !is_fence && (ended || line.starts_with("- "));
    if (begins || all.empty()) all.push_back({"", number});
    all.back().text += line + "\n";
    ended = false;
    if (is_fence) in_code = !in_code;
  }
  return all;
}

bool has(const Tree& tree, const std::string& name) {
  if (tree.contains(name)) return true;
  const auto below = tree.lower_bound(name + "/");
  return below != tree.end() && below->first.starts_with(name + "/");
}

/// Words of `page` that are paths from the root of a course and lead nowhere in `tree`, and links
/// that do, each with the line where its paragraph begins. A word that stands for others
/// (`labs/LAB/kernel.cu`) counts by its folder.
std::vector<std::string> missing_files(const Tree& tree, const std::string& name) {
  static const std::regex kPath(
      R"((^|[^\w./*-])((?:grader|docs|solutions|labs|handouts|\.ci)/[\w./*-]*))");
  static const std::regex kLink(R"(\]\(([^)#:\s]+)(?:#[^)]*)?\))");
  static const std::regex kStandsForOthers(R"([A-Z*]{2,}|\*|\bNN\b)");
  std::vector<std::string> missing;
  for (const Paragraph& paragraph : paragraphs_of(tree.at(name).bytes)) {
    const auto tell = [&](const std::string& what) {
      missing.push_back(name + ":" + std::to_string(paragraph.line) + ": " + what);
    };
    const std::string& text = paragraph.text;
    std::string words = text;  // in which a line's end is a blank
    std::ranges::replace(words, '\n', ' ');
    const bool is_said = words.find(kSaid) != std::string::npos;
    for (std::sregex_iterator it(words.begin(), words.end(), kPath), end; it != end; ++it) {
      std::string path = (*it)[2].str();
      while (path.ends_with('.') || path.ends_with('/')) path.pop_back();
      if (std::smatch found; std::regex_search(path, found, kStandsForOthers))
        path.resize(path.rfind('/', static_cast<std::size_t>(found.position())));
      if (has(tree, path)) continue;
      if (!is_said)
        tell(path);
      else if (!fs::exists(kSource / path))
        tell(path + ", which is not there either");
    }
    for (std::sregex_iterator it(text.begin(), text.end(), kLink), end; it != end; ++it) {
      const fs::path target = fs::path(name).parent_path() / (*it)[1].str();
      if (!has(tree, target.lexically_normal().string())) tell("the link to " + (*it)[1].str());
    }
  }
  return missing;
}

TEST(NamedFiles, OfEveryPageAreThereOrSaidToStayHere) {
  const auto course = course::read_course(kSource);
  ASSERT_TRUE(course) << base::to_string(course.error());
  const auto tree = course_files(kSource, course->labs);
  ASSERT_TRUE(tree) << base::to_string(tree.error());
  int pages = 0;
  for (const auto& [name, file] : *tree) {
    if (!name.ends_with(".md") || name.starts_with("grader/")) continue;
    ++pages;
    EXPECT_THAT(missing_files(*tree, name), IsEmpty());
  }
  EXPECT_GT(pages, 30);  // docs, and two for each lab
}

Tree small_tree(const std::string& page) {
  Tree tree;
  tree["handouts/01-x/handout.md"] = {page};
  tree["docs/result.md"] = {"# Result\n"};
  tree["labs/01-x/kernel.cu"] = {"// TODO\n"};
  return tree;
}

std::vector<std::string> missing_in(const std::string& page) {
  return missing_files(small_tree(page), "handouts/01-x/handout.md");
}

TEST(NamedFiles, AreFoundInTextCodeAndLinks) {
  EXPECT_THAT(
      missing_in("Edit `labs/01-x/kernel.cu` in labs/01-x, not ../solutions/x.\n"
                 "[more](../../docs/result.md#top), build/ci/grader/x, labs/LAB/kernel.cu.\n"),
      IsEmpty());
  EXPECT_THAT(missing_in("Text.\n\nSee\n(`grader/gpu_truth/records`).\n"),
              ElementsAre("handouts/01-x/handout.md:3: grader/gpu_truth/records"));
  EXPECT_THAT(missing_in("```\nmembound check 01 --submission solutions/LAB/kernel.cu\n```\n"),
              ElementsAre("handouts/01-x/handout.md:1: solutions"));
  EXPECT_THAT(missing_in("[more](../../docs/style.md)\n"),
              ElementsAre("handouts/01-x/handout.md:1: the link to ../../docs/style.md"));
  EXPECT_THAT(missing_in("<!-- snippet: solutions/01-x/kernel.cu#a -->\n"), IsEmpty());
}

TEST(NamedFiles, MayStayHereIfTheirParagraphSaysSo) {
  EXPECT_THAT(missing_in("`grader/gpu_truth/records` in Membound's\nrepository has it:\n\n```\n"
                         "grader/tests\n```\n"),
              IsEmpty());
  EXPECT_THAT(missing_in("`grader/tests` in Membound's repository has it.\n\n`grader/tests`\n"),
              ElementsAre("handouts/01-x/handout.md:3: grader/tests"));
  EXPECT_THAT(missing_in("`grader/no_such_folder` in Membound's repository\n"),
              ElementsAre("handouts/01-x/handout.md:1: grader/no_such_folder, which is not there "
                          "either"));
}

}  // namespace
}  // namespace membound::release
