// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/next_hint.hpp"

#include <algorithm>
#include <filesystem>

namespace membound::judge {
namespace {

std::string label(const course::Lab& lab, const course::Stage& stage) {
  return lab.id + "/" + std::to_string(stage.number);
}

base::Error never_checked(const std::string& stage) {
  return {base::ErrorKind::kUsage, stage, "no result yet, so there is nothing a hint could follow",
          "", "membound check " + stage};
}

base::Error nothing_to_hint(const std::string& stage, const std::string& why) {
  return {base::ErrorKind::kUsage, stage, why, "", "membound check " + stage};
}

/// The first finding that says what to do by itself.
const course::Finding* checker_finding(const course::StageResult& result) {
  for (const course::Finding& finding : result.findings)
    if (!finding.advice.empty()) return &finding;
  return nullptr;
}

std::string text_of(const course::Finding& finding) {
  std::string text;
  if (finding.line > 0) {
    text = std::filesystem::path(finding.file).filename().string() + ":" +
           std::to_string(finding.line) + ": ";
  }
  return text + finding.text + ". Try: " + finding.advice + ".";
}

}  // namespace

std::string hint_tag(const course::StageResult& result) {
  for (const course::Finding& finding : result.findings)
    if (!finding.hint_tag.empty()) return finding.hint_tag;
  return "";
}

base::Result<Hint> next_hint(const course::Lab& lab, const course::Stage& stage,
                             const StageState& state) {
  if (!state.last) return never_checked(label(lab, stage));
  if (state.last->passed())
    return nothing_to_hint(label(lab, stage), "passed at the last check: no hint is needed");
  const std::string tag = hint_tag(*state.last);
  const auto hints = lab.hints.find(tag);
  // A checker names the line and the remedy: more to the point than what was written beforehand.
  if (const course::Finding* const found = checker_finding(*state.last)) {
    const bool told = state.hints_used.contains(found->kind);
    if (!told || hints == lab.hints.end()) return Hint{found->kind, text_of(*found), 1, 1, !told};
  }
  if (hints == lab.hints.end() || hints->second.empty()) {
    return nothing_to_hint(label(lab, stage),
                           "this lab has no hint for what the last check found (" +
                               std::string(to_string(state.last->verdict)) + ")");
  }
  const auto used = state.hints_used.find(tag);
  const int before = used == state.hints_used.end() ? 0 : used->second;
  const int tiers = static_cast<int>(hints->second.size());
  const int tier = std::clamp(before + 1, 1, tiers);
  return Hint{tag, hints->second[static_cast<std::size_t>(tier) - 1], tier, tiers, before < tiers};
}

}  // namespace membound::judge
