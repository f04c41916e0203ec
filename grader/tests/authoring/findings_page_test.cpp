// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// grader/tests/authoring/findings.md: every row says what shows it, or what is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

const fs::path kCourseTree = MEMBOUND_SOURCE_DIR;

/// "Suite.Name" of every test of the tree.
std::set<std::string> every_test() {
  static const std::regex kTest(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> names;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(kCourseTree / "grader" / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = base::read_file(entry.path());
    if (!text) continue;
    for (std::sregex_iterator it(text->begin(), text->end(), kTest), end; it != end; ++it)
      names.insert((*it)[1].str() + "." + (*it)[2].str());
  }
  return names;
}

struct Finding {
  std::string what, state, shown;
};

/// The rows of every table, without heads.
std::vector<Finding> findings_of(const std::string& page) {
  static const std::regex kTableRow(R"(\| (.+?) \| (.+?) \| (.+) \|)");
  std::vector<Finding> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kTableRow) && match[2] != "state" && match[2] != "---")
      rows.push_back({match[1], match[2], match[3]});
  }
  return rows;
}

TEST(Findings, EveryRowSaysWhatShowsItOrWhatIsMissing) {
  static const std::regex kTestName(R"([A-Z]\w+\.[A-Z]\w+)"), kCode("`([^`]+)`");
  const auto page = base::read_file(kCourseTree / "grader/tests/authoring/findings.md");
  ASSERT_TRUE(page);
  const std::set<std::string> tests = every_test();
  const std::vector<Finding> rows = findings_of(*page);
  ASSERT_GT(rows.size(), 90u);
  for (const Finding& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_TRUE(row.state == "done" || row.state == "in part" || row.state == "not done")
        << row.state;
    bool shown = false;
    for (std::sregex_iterator it(row.shown.begin(), row.shown.end(), kCode), end; it != end; ++it) {
      const std::string name = (*it)[1].str();
      const bool is_test = std::regex_match(name, kTestName);
      if (!is_test && name.find('/') == std::string::npos) continue;  // an option, a command
      EXPECT_TRUE(is_test ? tests.contains(name) : fs::exists(kCourseTree / name)) << name;
      shown = true;
    }
    EXPECT_TRUE(shown || row.state != "done") << "nothing shows it";
  }
}

}  // namespace
}  // namespace membound::authoring
