// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/next_hint.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>

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
  text += finding.text;
  if (text.ends_with('.')) text.pop_back();
  return text + ". Try: " + finding.advice + ".";
}

/// What was said of the compiler's first message already; there is no more to it.
Hint compile_hint(const course::StageResult& result) {
  const std::string tag(to_string(result.verdict));
  const bool told = !result.findings.empty();
  return {tag, told ? result.findings.front().text : "The file does not compile.", 1, 1, false, tag,
          1};
}

}  // namespace

std::string hint_for_stage(const std::string& tier, int stage) {
  // "Stage 1: ", "Stages 1, 2 and 4: "
  static const std::regex kHead(R"(\bStages? (\d+(?:(?:,| and) \d+)*): )");
  static const std::regex kNumber(R"(\d+)");
  const std::sregex_iterator end;
  std::sregex_iterator head(tier.begin(), tier.end(), kHead);
  if (head == end) return tier;
  std::string text = tier.substr(0, static_cast<std::size_t>(head->position()));
  while (head != end) {
    const std::string numbers = (*head)[1].str();
    const auto begin = static_cast<std::size_t>(head->position() + head->length());
    ++head;
    const std::size_t behind =
        head == end ? tier.size() : static_cast<std::size_t>(head->position());
    for (std::sregex_iterator number(numbers.begin(), numbers.end(), kNumber); number != end;
         ++number)
      if (number->str() == std::to_string(stage)) text += tier.substr(begin, behind - begin);
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

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
  if (tag.empty() && state.last->verdict == course::Verdict::kCompileError)
    return compile_hint(*state.last);
  const auto hints = lab.hints.find(tag);
  const int tiers = hints == lab.hints.end() ? 0 : static_cast<int>(hints->second.size());
  int told = 0;  // of checkers
  // A checker names the line and the remedy: more to the point than what was written beforehand.
  if (const course::Finding* const found = checker_finding(*state.last)) {
    told = 1;
    const std::string key = found->kind + ": " + found->text;
    const bool is_new = !state.hints_used.contains(key);
    if (is_new || tiers == 0)
      return Hint{found->kind, text_of(*found), told, told + tiers, is_new, key, 1};
  }
  if (tiers == 0) {
    return nothing_to_hint(label(lab, stage),
                           "this lab has no hint for what the last check found (" +
                               std::string(to_string(state.last->verdict)) + ")");
  }
  const auto used = state.hints_used.find(tag);
  const int before = used == state.hints_used.end() ? 0 : used->second;
  const int tier = std::clamp(before + 1, 1, tiers);
  return Hint{tag,
              hint_for_stage(hints->second[static_cast<std::size_t>(tier) - 1], stage.number),
              told + tier,
              told + tiers,
              before < tiers,
              tag,
              tier};
}

}  // namespace membound::judge
