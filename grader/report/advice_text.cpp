// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/advice_text.hpp"

#include <algorithm>
#include <filesystem>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::SpeedAdvice;

constexpr std::size_t kFaultsShown = 3;
constexpr int kFaultIndent = 4, kRemedyIndent = 13;

std::string fault_text(const SpeedAdvice& advice, const Style& style) {
  const std::string times = number(advice.gain) + (style.unicode ? " ×" : " x");
  const std::string place = place_of(advice);
  std::string text = "    " +
                     style.paint(padded(times, kRemedyIndent - kFaultIndent) + "without " +
                                     advice.fault + (place.empty() ? "" : ", " + place),
                                 Tone::kWarning) +
                     "\n";
  text += wrapped(advice.what + " (" + evidence_of(advice) + ")", style.width, kRemedyIndent);
  text += wrapped("try: " + advice.remedy, style.width, kRemedyIndent);
  const std::string explained = explained_in(advice);
  if (!explained.empty()) text += wrapped("handout " + explained, style.width, kRemedyIndent);
  return text;
}

}  // namespace

const KernelProfile* costliest(const course::StageResult& stage) {
  const auto most =
      std::max_element(stage.profiles.begin(), stage.profiles.end(),
                       [](const KernelProfile& a, const KernelProfile& b) {
                         return a.predicted_ns * a.launches < b.predicted_ns * b.launches;
                       });
  return most == stage.profiles.end() ? nullptr : &*most;
}

bool is_advice(const course::Finding& finding, const course::StageResult& stage) {
  const course::KernelProfile* const kernel = costliest(stage);
  return kernel != nullptr && std::any_of(kernel->advice.begin(), kernel->advice.end(),
                                          [&](const course::SpeedAdvice& advice) {
                                            return advice.rule == finding.kind;
                                          });
}

std::string place_of(const SpeedAdvice& advice) {
  if (advice.line == 0) return "";
  return std::filesystem::path(advice.file).filename().string() + ":" + std::to_string(advice.line);
}

std::string evidence_of(const SpeedAdvice& advice) {
  return advice.counter + " " + amount(static_cast<double>(advice.value)) +
         (advice.counted_by.empty() ? "" : ", by " + advice.counted_by);
}

std::string explained_in(const SpeedAdvice& advice) {
  return advice.handout.empty() ? "" : advice.handout + ", \"" + advice.section + "\"";
}

std::string render_advice(const KernelProfile& kernel, const Style& style) {
  if (kernel.advice.empty()) return "";
  std::string text = "  what would make it faster, as the clock predicts:\n";
  for (std::size_t i = 0; i < std::min(kFaultsShown, kernel.advice.size()); ++i)
    text += fault_text(kernel.advice[i], style);
  return text;
}

}  // namespace membound::report
