// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pages and the heads of files name files, commands and functions: are those there?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

const fs::path kWholeTree = MEMBOUND_SOURCE_DIR;

std::string text_of(const fs::path& file) {
  const auto text = base::read_file(file);
  return text ? *text : "";
}

std::vector<fs::path> pages() {
  std::vector<fs::path> all = {kWholeTree / "README.md", kWholeTree / "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "labs", "solutions", "handouts", "grader/cli/help"})
    for (const auto& entry : fs::recursive_directory_iterator(kWholeTree / folder))
      if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

std::vector<std::string> all_matches(const std::string& text, const std::regex& regex) {
  std::vector<std::string> all;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    all.push_back((*it)[1].str());
  return all;
}

/// Paths from the tree's root in back quotes that lead nowhere. One with a capital word (NAME),
/// "…",
/// "*" or "{" stands for several.
std::vector<std::string> lost_paths(const std::string& page) {
  static const std::regex kPath(
      "`((?:grader|docs|labs|solutions|handouts|\\.ci)/[a-z0-9_./-]+)(?::[0-9]+)?`");
  std::vector<std::string> lost;
  for (const std::string& path : all_matches(page, kPath))
    if (!fs::exists(kWholeTree / path)) lost.push_back(path);
  return lost;
}

/// Commands in back quotes or code that have no page, and options that their page does not have.
std::vector<std::string> lost_commands(const std::string& page) {
  static const std::regex kCode("(?:`|\n)((?:[^`\n]*[ /])?membound [a-z][^`\n]*)");
  static const std::regex kWords("(?:^|[ /])membound ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?");
  static const std::regex kOption(" (--[a-z][a-z-]+)");
  const fs::path help = kWholeTree / "grader/cli/help";
  std::vector<std::string> lost;
  for (std::string code : all_matches(page, kCode)) {
    code = code.substr(0, code.find(" -- "));  // what follows is a program's
    code = code.substr(0, code.find_first_of("#|;&"));
    std::smatch words;
    if (!std::regex_search(code, words, kWords)) continue;
    const std::string command = words[1], inner = command + "-" + words[2].str();
    const bool has_inner = fs::exists(help / (inner + ".md"));
    const std::string its_page = text_of(help / ((has_inner ? inner : command) + ".md"));
    if (its_page.empty()) lost.push_back(command);
    const std::string known = its_page + text_of(help / "membound.md");
    for (const std::string& option : all_matches(code, kOption))
      if (!its_page.empty() && known.find(option) == std::string::npos)
        lost.push_back(command + " " + option);
  }
  return lost;
}

TEST(NamedPlaces, PagesNameFilesThatThereAre) {
  for (const fs::path& page : pages()) EXPECT_THAT(lost_paths(text_of(page)), IsEmpty()) << page;
  EXPECT_THAT(lost_paths("`grader/base/strings.hpp` `grader/attic/old.hpp:12` `docs/NAME.md`"),
              ElementsAre("grader/attic/old.hpp"));
}

TEST(NamedPlaces, PagesNameCommandsAndOptionsThatThereAre) {
  for (const fs::path& page : pages()) EXPECT_THAT(lost_commands(text_of(page)), IsEmpty()) << page;
  EXPECT_THAT(lost_commands("`membound check 3/1 --device gpu` and `./membound judge 3`\n"
                            "    membound dev check --mend  # --no such\n"),
              ElementsAre("judge", "dev --mend"));
}

/// Sources of the rooms and files that `text` names: all of `harness/lab`, judge/judge.cpp of
/// `judge/judge`.
std::string sources_named_in(const std::string& text) {
  static const std::regex kPlace("`([a-z_]+(?:/[a-z0-9_]+)+)`");
  std::string sources;
  for (const std::string& name : all_matches(text, kPlace)) {
    const fs::path place = kWholeTree / "grader" / name;
    if (!fs::is_directory(place)) {
      sources += text_of(place.string() + ".cpp");
      continue;
    }
    for (const auto& entry : fs::directory_iterator(place))
      if (entry.path().extension() == ".cpp") sources += text_of(entry.path());
  }
  return sources;
}

/// Functions of a step ("`judge::run()`", "`Ledger::plan()`") that none of the files named there
/// defines. What the name of a class stands before is looked for with it; namespaces are left out.
std::vector<std::string> lost_functions(const std::string& step) {
  static const std::regex kFunction("`(?:[a-z_]+::)*([A-Za-z_:]+)\\(\\)`");
  const std::string sources = sources_named_in(step);
  std::vector<std::string> lost;
  for (const std::string& name : all_matches(step, kFunction)) {
    const std::regex definition("\n[A-Za-z\\[][^\n;=(]*[ *&]" + name + "\\(");
    if (!std::regex_search(sources, definition)) lost.push_back(name);
  }
  return lost;
}

/// The numbered steps of a section.
std::vector<std::string> steps_of(const std::string& page, const std::string& section) {
  const auto begin = page.find("\n## " + section + "\n");
  if (begin == std::string::npos) return {};
  const std::string text = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  std::vector<std::string> steps;
  for (int number = 1;; ++number) {
    const auto at = text.find("\n" + std::to_string(number) + ". ");
    if (at == std::string::npos) return steps;
    const auto end =
        std::min(text.find("\n" + std::to_string(number + 1) + ". ", at), text.find("\n\n", at));
    steps.push_back(text.substr(at, end - at));
  }
}

TEST(NamedPlaces, WalksNameFunctionsOfTheFilesBesideThem) {
  const std::string page = text_of(kWholeTree / "docs/architecture.md");
  for (const char* walk : {"From kernel.cu to a verdict", "From an archive to grades.csv"}) {
    const std::vector<std::string> steps = steps_of(page, walk);
    EXPECT_GE(steps.size(), 5u) << walk;
    for (const std::string& step : steps) EXPECT_THAT(lost_functions(step), IsEmpty()) << step;
  }
  EXPECT_THAT(lost_functions(
                  "`judge::judge_stage()`, `no_such()` and `Other::plan()` of `judge/verdict` and "
                  "`classroom/ledger`, `Ledger::plan()`"),
              ElementsAre("no_such", "Other::plan"));
}

/// "…, a file each time control enters it: a → b (what it does) → c: 3."
TEST(NamedPlaces, WalksGoThroughFilesThatThereAre) {
  std::set<std::string> stems;
  for (const auto& entry : fs::recursive_directory_iterator(kWholeTree / "grader"))
    if (entry.path().extension() == ".cpp") stems.insert(entry.path().stem().string());
  const std::string page = text_of(kWholeTree / "docs/architecture.md");
  const std::string introduction = "a file each time control enters it";
  static const std::regex kStay("([a-z_]+)(?: \\([^→]*\\))?[ \n]→");
  std::size_t walks = 0;
  for (auto at = page.find(introduction); at != std::string::npos;
       at = page.find(introduction, at + 1), ++walks) {
    const auto stays = all_matches(page.substr(at, page.find("\n\n", at) - at), kStay);
    EXPECT_GT(stays.size(), 20u);
    for (const std::string& stay : stays) EXPECT_TRUE(stems.contains(stay)) << stay;
  }
  EXPECT_EQ(walks, 2u);
}

/// What stands before "#pragma once".
std::string head_of(const fs::path& header) {
  const std::string text = text_of(header);
  return text.substr(0, std::min(text.find("#pragma once"), text.size()));
}

TEST(NamedPlaces, HeadsNameFilesThatThereAre) {
  std::set<std::string> known;  // "lanes/print", "exec/lanes/print", "exec/lanes/print.hpp", …
  std::vector<fs::path> headers;
  std::string rooms;
  for (const auto& entry : fs::recursive_directory_iterator(kWholeTree / "grader")) {
    std::string end = entry.path().stem().string(), file = entry.path().filename().string();
    for (fs::path folder = entry.path().parent_path(); folder != kWholeTree.parent_path();
         folder = folder.parent_path()) {
      known.insert({end, file});
      end = folder.filename().string() + "/" + end;
      file = folder.filename().string() + "/" + file;
    }
    if (entry.path().extension() == ".hpp") headers.push_back(entry.path());
    if (entry.is_directory() && entry.path().parent_path() == kWholeTree / "grader")
      rooms += (rooms.empty() ? "" : "|") + entry.path().filename().string();
  }
  const std::regex named("(?:^|[^a-zA-Z_/<.*-])((?:grader/)?(?:" + rooms +
                         ")/[a-z0-9_/]*[a-z0-9](?:\\.[a-z]+)?)");
  std::size_t names = 0;
  for (const fs::path& header : headers)
    for (const std::string& name : all_matches(head_of(header), named)) {
      ++names;
      EXPECT_TRUE(known.contains(name)) << header << ": " << name;
    }
  EXPECT_GT(names, 10u);
}

}  // namespace
}  // namespace membound::authoring
