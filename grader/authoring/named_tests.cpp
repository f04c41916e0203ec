// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/named_tests.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include "grader/authoring/lines.hpp"
#include "grader/base/text_files.hpp"
#include "grader/base/text_lines.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "grader/tests/attacks/defended.md";
constexpr const char* kNotClosed = "not closed";

/// What there is: "Suite.Name" and "Suite.*" of every test, names of scripts, attacks as
/// "group/name", wrong answers as "lab/name".
std::set<std::string> every_test(const fs::path& root) {
  static const std::regex kTest(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(root / "grader/tests", ignored)) {
    const fs::path& path = entry.path();
    const std::string folder = path.parent_path().filename().string();
    if (path.filename() == "case.json")
      names.insert(path.parent_path().parent_path().filename().string() + "/" + folder);
    if (path.extension() == ".sh") names.insert(path.filename().string());
    const auto text = path.extension() == ".cpp" ? base::read_file(path) : base::Error{};
    if (!text) continue;
    for (std::sregex_iterator it(text->begin(), text->end(), kTest), end; it != end; ++it) {
      names.insert((*it)[1].str() + "." + (*it)[2].str());
      names.insert((*it)[1].str() + ".*");
    }
  }
  for (const auto& entry : fs::recursive_directory_iterator(root / "solutions", ignored)) {
    const fs::path folder = entry.path().parent_path();
    if (folder.filename() != "wrong") continue;
    const std::string lab = folder.parent_path().filename().string();
    names.insert(lab.substr(0, 2) + "/" + entry.path().stem().string());
  }
  return names;
}

/// The cells of a table's row; a bar inside of backquotes parts none.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("|")) return cells;
  bool in_code = false;
  std::string cell;
  for (const char c : line.substr(1)) {
    in_code ^= c == '`';
    if (c != '|' || in_code) {
      cell += c;
      continue;
    }
    cells.emplace_back(base::trimmed(cell));
    cell.clear();
  }
  return cells;
}

}  // namespace

std::vector<std::string> tests_named_in(std::string_view cell) {
  static const std::regex kName(
      R"(([A-Z]\w+\.(?:[A-Z]\w+|\*))|([A-I]-[\w-]+/[\w-]+)|(\b\d\d/\d-[\w-]+)|(\b\w+\.sh\b))");
  std::vector<std::string> names;
  const std::string text(cell);
  for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it)
    names.push_back(it->str());
  return names;
}

std::vector<Drift> check_named_tests(const fs::path& root) {
  const auto page = base::read_file(root / kPage);
  if (!page) return {{kPage, 0, "cannot be read", "the page of what was found", ""}};
  const std::set<std::string> known = every_test(root);
  std::vector<Drift> drifts;
  std::istringstream lines(*page);
  bool has_tests = false;
  int number = 0;
  std::vector<std::string> before;  // what "the same" stands for
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 2) {
      has_tests = false;
      continue;
    }
    if (!has_tests) {
      has_tests = cells.back() == "test";
      continue;
    }
    const std::string& cell = cells.back();
    if (cell.starts_with("---")) continue;
    if (cell != "the same") before = tests_named_in(cell);
    if (before.empty() && cell.find(kNotClosed) == std::string::npos)
      drifts.push_back({kPage, number, cell.empty() ? "no test" : "\"" + cell + "\"",
                        "a test that holds the row, or why there is none: \"not closed\"", ""});
    for (const std::string& name : before)
      if (!known.contains(name))
        drifts.push_back({kPage, number, name, "a test, attack or wrong answer of the tree",
                          "name the one that holds this row now"});
  }
  return drifts;
}

}  // namespace membound::authoring
