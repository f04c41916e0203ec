// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/student_progress.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <system_error>

#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/course/json_io.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;

constexpr const char* kForgotten = "forgotten";  // a folder beside those of the labs

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& lab,
                              int stage) {
  return folder / lab / (std::to_string(stage) + ".json");
}

/// How many checks of a stage are kept.
constexpr std::size_t kMostChecks = 16;

/// A check that found the same as the one before it is no news.
void add_check(const course::StageResult& stage, std::vector<course::RooflineDot>& history) {
  std::optional<course::RooflineDot> now = course::roofline_dot(stage);
  if (!now || (!history.empty() && json(history.back()) == json(*now))) return;
  history.push_back(*std::move(now));
  if (history.size() > kMostChecks) history.erase(history.begin());
}

}  // namespace

StageState StateFolder::read(const std::string& lab, int stage) const {
  const auto text = base::read_file(file_of(folder_, lab, stage));
  if (!text) return {};
  try {
    const json in = json::parse(*text);
    StageState state;
    if (in.contains("last") && !in["last"].is_null())
      state.last = in["last"].get<course::StageResult>();
    course::read_field(in, "checked_at", state.checked_at);
    course::read_field(in, "submission_sha256", state.submission_sha256);
    course::read_field(in, "best_points", state.best_points);
    course::read_field(in, "ever_passed", state.ever_passed);
    course::read_field(in, "hints_used", state.hints_used);
    course::read_field(in, "predicted", state.predicted);
    course::read_field(in, "compiler", state.compiler);
    course::read_field(in, "history", state.history);
    return state;
  } catch (const json::exception&) {
    return {};
  }
}

base::Status StateFolder::write(const std::string& lab, int stage, const StageState& state) const {
  json out = {{"last", nullptr},
              {"checked_at", state.checked_at},
              {"submission_sha256", state.submission_sha256},
              {"best_points", state.best_points},
              {"ever_passed", state.ever_passed},
              {"hints_used", state.hints_used}};
  if (state.last) out["last"] = *state.last;
  if (!state.compiler.empty()) out["compiler"] = state.compiler;
  if (state.predicted) out["predicted"] = *state.predicted;
  if (!state.history.empty()) out["history"] = state.history;
  return base::write_file(file_of(folder_, lab, stage), course::dump_safely(out) + "\n");
}

base::Status StateFolder::remember(const course::Result& result) const {
  for (const course::StageResult& stage : result.stages) {
    StageState state = read(stage.lab, stage.stage);
    state.last = stage;
    for (course::Timing& timing : state.last->timings) {
      timing.student_ns.clear();
      timing.reference_ns.clear();
    }
    // Pictures are a page's: a check that makes none remembers the same.
    for (course::KernelProfile& profile : state.last->profiles) {
      profile.accesses.clear();
      profile.traced_block = {};
      profile.traced_warp = 0;
      profile.traced_label.clear();
    }
    add_check(stage, state.history);
    state.checked_at = result.created_at;
    state.submission_sha256 = result.submission_sha256;
    state.compiler = result.compiler;
    state.best_points = std::max(state.best_points, stage.points);
    state.ever_passed = state.ever_passed || stage.passed();
    const auto written = write(stage.lab, stage.stage, state);
    if (!written) return written.error();
  }
  return base::Done{};
}

void StateFolder::forget(const std::string& lab, int stage) const {
  const std::filesystem::path kept = file_of(folder_ / kForgotten, lab, stage);
  std::error_code ignored;
  std::filesystem::create_directories(kept.parent_path(), ignored);
  std::filesystem::rename(file_of(folder_, lab, stage), kept, ignored);
}

void StateFolder::bring_back(const std::string& lab, int stage) const {
  const StateFolder forgotten(folder_ / kForgotten);
  if (read(lab, stage).best_points > forgotten.read(lab, stage).best_points) return;
  std::error_code ignored;
  std::filesystem::create_directories(file_of(folder_, lab, stage).parent_path(), ignored);
  std::filesystem::rename(file_of(forgotten.folder_, lab, stage), file_of(folder_, lab, stage),
                          ignored);
}

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

/// The first finding of a checker, or the fault, that says what to do by itself. What the source
/// shows of a failed test was printed with it.
const course::Finding* checker_finding(const course::StageResult& result) {
  const std::string fault(to_string(course::Cause::kFault));
  for (const course::Finding& finding : result.findings)
    if (!finding.advice.empty() && (finding.test.empty() || finding.kind == fault)) return &finding;
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
  const bool passed = state.last->passed();
  // Between the bar and full points speed is what is missing.
  const std::string tag =
      passed ? first_known_tag(lab,
                               {"slow-" + stage.name, std::string(to_string(course::Cause::kSlow))})
             : hint_tag(*state.last);
  if (passed && (tag.empty() || state.last->points >= stage.points))
    return nothing_to_hint(label(lab, stage), "passed at the last check: no hint is needed");
  if (tag.empty() && state.last->verdict == course::Verdict::kCompileError)
    return compile_hint(*state.last);
  const auto hints = lab.hints.find(tag);
  const int tiers = hints == lab.hints.end() ? 0 : static_cast<int>(hints->second.size());
  int told = 0;  // of checkers
  // A checker names the line and the remedy: more to the point than what was written beforehand.
  if (const course::Finding* const found = passed ? nullptr : checker_finding(*state.last)) {
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
