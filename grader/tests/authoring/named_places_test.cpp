// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pages and the heads of files name files and commands: are those there?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// "Place in the chain: a, b -> [this file] -> c.", where it says so.
std::string chain_of(const std::string& file) {
  const auto start = file.find("Place in the chain:");
  if (start == std::string::npos) return "";
  const auto end = file.find("#pragma once", start);
  return std::regex_replace(file.substr(start, end - start), std::regex("\n *///? ?"), " ");
}

TEST(NamedPlaces, HeadsNameTheirOwnFileAndOthersThatThereAre) {
  std::set<std::string> known;  // "lanes", "exec/lanes", "lanes/print", "exec/lanes/print", …
  std::vector<fs::path> headers;
  for (const auto& entry : fs::recursive_directory_iterator(kWholeTree / "grader")) {
    std::string end = entry.path().stem().string();
    for (fs::path folder = entry.path().parent_path(); folder != kWholeTree.parent_path();
         folder = folder.parent_path()) {
      known.insert(end);
      end = folder.filename().string() + "/" + end;
    }
    if (entry.path().extension() == ".hpp") headers.push_back(entry.path());
  }
  static const std::regex kOwn("-> \\[([^\\]]+)\\]|^[^>]* \\[([^\\]]+)\\][^>]*->");
  static const std::regex kOther(
      " ([a-z_]+[_/][a-z_/]*[a-z])(?:\\.[a-z]pp)?(?:,|\\.(?![a-z])| ->)");
  std::size_t chains = 0;
  for (const fs::path& header : headers) {
    const std::string chain = chain_of(text_of(header)).substr(0, 400);
    std::smatch own;
    if (!std::regex_search(chain, own, kOwn)) continue;
    ++chains;
    const std::string name = own[1].matched ? own[1] : own[2];
    EXPECT_TRUE(name == header.stem() || name == header.parent_path().filename())
        << header << " calls itself " << name;
    const std::string arrows = chain.substr(0, chain.find(". "));
    for (const std::string& other : all_matches(arrows, kOther))
      EXPECT_TRUE(known.contains(other) || other.starts_with("membound_"))
          << header << ": " << other;
  }
  EXPECT_GT(chains, 200u);
}

}  // namespace
}  // namespace membound::authoring
