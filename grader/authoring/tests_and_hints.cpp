// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

#include "grader/authoring/checks.hpp"
#include "grader/base/text_files.hpp"
#include "grader/course/call_rules.hpp"
#include "grader/course/contract.hpp"

namespace membound::authoring {
namespace {

/// A test of test.cpp and the tag of its hint, which may be empty.
struct OwnTest {
  std::string name, tag;
};

std::vector<OwnTest> own_tests(const course::Lab& lab, const LabFolders& folders) {
  // LAB_TEST(Suite, Name) and LAB_TEST_WITH_HINT(Suite, Name, "tag")
  static const std::regex kMacro(
      R"lit(LAB_TEST(?:_WITH_HINT)?\(\s*\w+\s*,\s*(\w+)(?:\s*,\s*"([^"]+)")?)lit");
  // {"Name", "tag", a function}
  static const std::regex kRow(R"lit(\{\s*"(\w+)"\s*,\s*"([^"]*)"\s*,)lit");
  const base::Result<std::string> text = base::read_file(folders.lab / "test.cpp");
  if (!text) return {};
  const auto start = lab.host_code ? std::min(text->find("kTests"), text->size()) : 0;
  const std::string source = text->substr(start);
  std::vector<OwnTest> tests;
  for (std::sregex_iterator it(source.begin(), source.end(), lab.host_code ? kRow : kMacro), end;
       it != end; ++it)
    tests.push_back({(*it)[1].str(), (*it)[2].str()});
  return tests;
}

}  // namespace

std::set<std::string> test_names(const course::Lab& lab, const LabFolders& folders) {
  std::set<std::string> names;
  for (const course::BuiltInTestRow& row : course::built_in_tests())
    if (!row.name.empty() && !(row.kernels_only && lab.host_code)) names.emplace(row.name);
  for (const course::Stage& stage : lab.stages)
    for (const course::CallDemand& demand : stage.calls)
      names.insert(std::string(demand.rule->test));
  for (const OwnTest& test : own_tests(lab, folders)) names.insert(test.name);
  return names;
}

void check_hints(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (const OwnTest& test : own_tests(lab, folders)) {
    if (test.tag.empty() || lab.hints.contains(test.tag)) continue;
    drifts.push_back({folders.shown(folders.lab / "test.cpp"), 0,
                      "the hint \"" + test.tag + "\" is not in lab.json",
                      "three tiers under \"hints\"", "write them, or correct the tag"});
  }
  for (const auto& [tag, tiers] : lab.hints) {
    if (tiers.size() == 3) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" has " + std::to_string(tiers.size()) + " tiers",
                      "three: a nudge, where to look, nearly the line", "write the missing ones"});
  }
}

}  // namespace membound::authoring
