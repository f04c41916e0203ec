// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The checkers' corpus: programs of this folder, each with many cases, run with all checkers on.
/// What is found must be what grader/gpu_truth/records/checkers_beside_compute_sanitizer.md says,
/// row by row; the test prints the table as it is now. corpus.cuh says how a case is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr bool kHasClang = sizeof MEMBOUND_CORPUS_LOCALS > 1;

struct Case {
  std::string file, name, kind;  ///< no kind: right
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Case> cases_of(const std::string& file) {
  const std::string text = content(std::filesystem::path(MEMBOUND_CORPUS) / (file + ".cu"));
  const std::regex pattern(R"rx((CASE|RIGHT)\((\w+),\s*(?:"([^"]+)")?)rx");
  std::vector<Case> all;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    all.push_back({file, (*at)[2], (*at)[3]});
  return all;
}

/// The lines of the case's mark: the comment lists names.
std::vector<int> lines_of(const Case& one) {
  std::istringstream text(content(std::filesystem::path(MEMBOUND_CORPUS) / (one.file + ".cu")));
  const std::regex mark(R"rx(//\s(?:[\w, ]*\b)?)rx" + one.name + R"rx(\b[\w, ]*$)rx");
  std::vector<int> found;
  int number = 1;
  for (std::string line; std::getline(text, line); ++number)
    if (std::regex_search(line, mark)) found.push_back(number);
  return found;
}

struct Said {
  std::string kind;
  int line = 0;
};

/// Where the virtual GPU's libcudart.so.13 lies: this build's, or another one's, under a sanitizer.
std::string runtime_folder() {
  const char* const other = std::getenv("MEMBOUND_CORPUS_RUNTIME");
  return other == nullptr ? MEMBOUND_CUDART_FOLDER : other;
}

/// Every finding of a run: "membound: CHECKER: KIND", then "  at FILE:LINE".
std::vector<Said> run(const Case& one) {
  const std::string command =
      std::string(one.file == "locals" ? "MEMBOUND_CORPUS_PTX=" MEMBOUND_CORPUS_LOCALS " " : "") +
      "LD_LIBRARY_PATH=" + runtime_folder() + " MEMBOUND_CHECK=all MEMBOUND_STEP_LIMIT=1000000 " +
      std::string(MEMBOUND_PROGRAMS "/corpus_") + one.file + " " + one.name + " 2>&1";
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (pipe != nullptr) pclose(pipe);
  std::vector<Said> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex(R"(membound: (?:\w+check: )?(.*))")))
      all.push_back({match[1], 0});
    else if (!all.empty() && all.back().line == 0 &&
             std::regex_match(line, match, std::regex(R"(  at [^ ]*\.cu:(\d+): .*)")))
      all.back().line = std::stoi(match[1]);
  }
  return all;
}

/// A row of the table: was the kind found, and at the marked line? A right program is one of which
/// nothing is said.
std::string row_of(const Case& one) {
  const std::vector<Said> said = run(one);
  const std::vector<int> wanted = lines_of(one);
  bool found = false, at_line = false;
  for (const Said& each : said) {
    if (each.kind != one.kind) continue;
    found = true;
    at_line = at_line || std::find(wanted.begin(), wanted.end(), each.line) != wanted.end();
  }
  const std::string what = one.kind.empty() ? "right" : one.kind;
  const std::string verdict = found              ? "found"
                              : !said.empty()    ? "said: " + said.front().kind
                              : one.kind.empty() ? "silent"
                                                 : "missed";
  const std::string line = !found || wanted.empty() ? "" : at_line ? "yes" : "no";
  return "| " + one.file + "/" + one.name + " | " + what + " | " + verdict + " | " + line + " |";
}

/// The rows of a page without those of what clang must compile.
std::string without_locals(const std::string& rows) {
  return std::regex_replace(rows, std::regex(R"(\| locals/[^\n]*\n)"), "");
}

/// Rows of the page, but for their last cell: what another tool says, for which it takes a GPU.
std::string without_last_cells(const std::string& rows) {
  return std::regex_replace(rows, std::regex(R"([^|\n]*\|\n)"), "\n");
}

TEST(CheckerCorpus, FindsWhatItsPageSays) {
  std::vector<std::string> rows;
  std::size_t faulty = 0, right = 0;
  for (const char* file :
       {"memory", "locals", "races", "warps", "values", "pipelines", "streams", "calls",
        "mbarriers", "sharing", "layouts", "handshakes", "orders", "tricky", "tiles"}) {
    if (file == std::string("locals") && !kHasClang) continue;
    for (const Case& one : cases_of(file)) {
      ++(one.kind.empty() ? right : faulty);
      rows.push_back(row_of(one));
    }
  }
  EXPECT_GE(faulty, 130u);
  EXPECT_GE(right, 55u);
  const std::string page = content(MEMBOUND_CORPUS_PAGE);
  std::string table;
  for (const std::string& row : rows) table += row + "\n";
  const std::size_t begin = page.find("| memory/"), end = page.find("<!-- end of corpus -->");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos);
  const std::string written = without_last_cells(page.substr(begin, end - begin));
  EXPECT_EQ(kHasClang ? written : without_locals(written), table);
}

}  // namespace
