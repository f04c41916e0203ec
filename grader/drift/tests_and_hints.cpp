// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <regex>

#include "grader/course/files.hpp"
#include "grader/drift/checks.hpp"

namespace membound::drift {
namespace {

// The harness's own tests and tags: grader/harness runs the tests for every stage, and sets the
// tags where a lab's test cannot (docs/result.md lists them).
constexpr std::array kBuiltInTests = {
    "Compiles",         "HasTheRightSignature", "LaunchesWithinLimits",
    "RunsWithoutFault", "FinishesInTime",       "ReachesItsBar"};

std::string test_source(const LabFolders& folders) {
  const base::Result<std::string> text = course::read_file(folders.lab / "test.cpp");
  return text ? *text : std::string();
}

}  // namespace

std::set<std::string> test_names(const LabFolders& folders) {
  static const std::regex kTest(R"(LAB_TEST(_WITH_HINT)?\(\s*\w+\s*,\s*(\w+))");
  std::set<std::string> names(kBuiltInTests.begin(), kBuiltInTests.end());
  const std::string source = test_source(folders);
  for (std::sregex_iterator it(source.begin(), source.end(), kTest), end; it != end; ++it) {
    names.insert((*it)[2].str());
  }
  return names;
}

void check_hints(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  static const std::regex kTag(R"lit(LAB_TEST_WITH_HINT\(\s*\w+\s*,\s*\w+\s*,\s*"([^"]+)")lit");
  const std::string source = test_source(folders);
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (std::sregex_iterator it(source.begin(), source.end(), kTag), end; it != end; ++it) {
    if (lab.hints.contains((*it)[1].str())) continue;
    drifts.push_back({folders.shown(folders.lab / "test.cpp"), 0,
                      "the hint \"" + (*it)[1].str() + "\" is not in lab.json",
                      "three tiers under \"hints\"", "write them, or correct the tag"});
  }
  for (const auto& [tag, tiers] : lab.hints) {
    if (tiers.size() == 3) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" has " + std::to_string(tiers.size()) + " tiers",
                      "three: a nudge, where to look, nearly the line", "write the missing ones"});
  }
}

}  // namespace membound::drift
