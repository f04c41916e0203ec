// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pages and the heads of files name files and commands: are those there?
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
