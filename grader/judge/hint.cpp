// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/hint.hpp"

#include <algorithm>

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
