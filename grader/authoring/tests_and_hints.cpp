// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

#include "grader/authoring/checks.hpp"
#include "grader/base/text_files.hpp"
#include "grader/course/call_rules.hpp"
#include "grader/course/contract.hpp"
#include "grader/judge/counter_bars.hpp"
#include "grader/judge/next_hint.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::authoring {
namespace {

/// A test of one of the lab's test sources and the tag of its hint, which may be empty.
struct OwnTest {
  std::string file, name, tag;
};

std::vector<OwnTest> own_tests(const course::Lab& lab, const LabFolders& folders) {
  // LAB_TEST(Suite, Name), LAB_TEST_WITH_HINT(Suite, Name, "tag") and LAB_TEST_AFTER_TIMING
  static const std::regex kMacro(
      R"lit(LAB_TEST(?:_WITH_HINT|_AFTER_TIMING)?\(\s*\w+\s*,\s*(\w+)(?:\s*,\s*"([^"]+)")?)lit");
  // {"Name", "tag", a function}
  static const std::regex kRow(R"lit(\{\s*"(\w+)"\s*,\s*"([^"]*)"\s*,)lit");
  std::vector<OwnTest> tests;
  const auto add = [&](const std::string& file, const std::string& source, const std::regex& form) {
    for (std::sregex_iterator it(source.begin(), source.end(), form), end; it != end; ++it)
      tests.push_back({file, (*it)[1].str(), (*it)[2].str()});
  };
  for (const course::StageKind* kind : lab.kinds()) {
    const std::string file(kind->test_source);
    const base::Result<std::string> text = base::read_file(folders.lab / file);
    if (!text) continue;
    add(file, *text, kMacro);
    add(file, text->substr(std::min(text->find("kTests"), text->size())), kRow);
  }
  return tests;
}

/// A name that a bar or a question uses: a counter that no model had a hand in.
void check_counter(const std::string& name, const std::string& lab_json, Drifts& drifts) {
  if (name == judge::kSharedBytesOfABlock) return;
  const auto* const row = vgpu::counters::find_counter(name);
  if (row != nullptr && row->certainty != "modelled") return;
  drifts.push_back({lab_json, 0,
                    row == nullptr ? "nothing that is counted is called \"" + name + "\""
                                   : "the counter \"" + name + "\" is modelled",
                    "a counter that is exact, or counted from the PTX",
                    "docs/counters.md lists them"});
}

/// A hint belongs to a test, and most tests are every stage's.
void check_every_stage_is_told(const course::Lab& lab, const std::string& tag,
                               const std::string& tier, const std::string& lab_json,
                               Drifts& drifts) {
  for (const course::Stage& stage : lab.stages) {
    const bool told = !judge::hint_for_stage(tier, stage.number).empty();
    if (told || stage.kind->has_reference != lab.has_reference()) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" says nothing to stage " +
                          std::to_string(stage.number) + ": " + tier,
                      "words before the first \"Stage 1: \", or some for each stage",
                      "write them"});
  }
}

}  // namespace

std::set<std::string> test_names(const course::Lab& lab, const LabFolders& folders) {
  std::set<std::string> names;
  for (const course::BuiltInTestRow& row : course::built_in_tests())
    if (!row.name.empty() && !(row.kernels_only && !lab.has_reference())) names.emplace(row.name);
  for (const course::Stage& stage : lab.stages)
    for (const course::CallDemand& demand : stage.calls)
      names.insert(std::string(demand.rule->test));
  for (const OwnTest& test : own_tests(lab, folders)) names.insert(test.name);
  return names;
}

void check_counter_bars(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (const course::Stage& stage : lab.stages) {
    if (stage.question && stage.kind->has_reference) {
      check_counter(stage.question->counter, lab_json, drifts);
      if (!stage.question->per.empty() && stage.question->per != course::kMultiprocessors)
        check_counter(stage.question->per, lab_json, drifts);
    }
    for (const course::CounterBar& bar : stage.counters) {
      check_counter(bar.counter, lab_json, drifts);
      if (!bar.per.empty() && bar.per != course::kMultiprocessors)
        check_counter(bar.per, lab_json, drifts);
      if (lab.hints.contains(bar.hint_tag)) continue;
      drifts.push_back({lab_json, 0, "there is no hint \"" + bar.hint_tag + "\"",
                        "three tiers under \"hints\"", "write them, or correct the tag"});
    }
  }
}

void check_hints(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::string lab_json = folders.shown(folders.lab / "lab.json");
  for (const OwnTest& test : own_tests(lab, folders)) {
    if (test.tag.empty() || lab.hints.contains(test.tag)) continue;
    drifts.push_back({folders.shown(folders.lab / test.file), 0,
                      "the hint \"" + test.tag + "\" is not in lab.json",
                      "three tiers under \"hints\"", "write them, or correct the tag"});
  }
  for (const auto& [tag, tiers] : lab.hints) {
    for (const std::string& tier : tiers)
      check_every_stage_is_told(lab, tag, tier, lab_json, drifts);
    if (tiers.size() == 3) continue;
    drifts.push_back({lab_json, 0,
                      "the hint \"" + tag + "\" has " + std::to_string(tiers.size()) + " tiers",
                      "three: a nudge, where to look, nearly the line", "write the missing ones"});
  }
}

}  // namespace membound::authoring
