// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_spot_check.hpp"

#include <charconv>
#include <cstdio>
#include <vector>

#include "grader/base/text_files.hpp"
#include "grader/classroom/queue/outputs.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/classroom/queue/spot_check.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/interrupt.hpp"
#include "grader/cli/staff/grading_options.hpp"
#include "grader/report/progress.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

constexpr const char* kOption = "--spot-check";

/// Prints what a person should look at.
void print_differences(const queue::Retimed& one, const report::Style& style) {
  const std::string sign = style.sign(report::Tone::kWarning);
  if (!one.problem.empty())
    std::printf("%s %s, %s: cannot be timed on %s: %s\n", sign.c_str(), one.student.c_str(),
                one.lab.c_str(), one.device.c_str(), one.problem.c_str());
  for (const queue::RetimedStage& stage : one.stages)
    if (!stage.holds())
      std::printf("%s %s, %s stage %d: passed by prediction, %s on %s\n", sign.c_str(),
                  one.student.c_str(), one.lab.c_str(), stage.stage,
                  std::string(course::to_string(stage.verdict)).c_str(), one.device.c_str());
}

}  // namespace

base::Result<std::optional<SpotCheck>> read_spot_check(const std::string& word,
                                                       judge::CheckOptions options, bool trust,
                                                       const queue::Settings& graded,
                                                       const Context& context) {
  if (word.empty()) return std::optional<SpotCheck>();
  SpotCheck check;
  const auto colon = word.rfind(':');
  const char* const end = word.data() + word.size();
  if (colon == std::string::npos ||
      std::from_chars(word.data() + colon + 1, end, check.passes).ptr != end || check.passes == 0) {
    return base::Error{base::ErrorKind::kUsage, kOption, "\"" + word + "\"",
                       "a device and how many passes are timed there, as in gpu:5", ""};
  }
  if (!graded.device.kind->has_checkers()) {
    return base::Error{
        base::ErrorKind::kUsage, kOption, "the class is graded on " + graded.device.name,
        "--device vgpu or vgpu:MODEL beside it: predicted passes are timed again", ""};
  }
  options.device = word.substr(0, colon);
  auto settings = grading_settings(context, options, trust);
  if (!settings) return settings.error();
  check.settings = *std::move(settings);
  check.settings.device_seconds = graded.device_seconds;
  return std::optional(std::move(check));
}

int run_spot_check(const SpotCheck& check, const GradedBatch& batch, const Context& context) {
  const auto plan = queue::read_plan(batch.out);
  if (!plan) return report_error(plan.error());
  const auto all = queue::read_class(batch.out, batch.key_file, queue::Detail::kShown);
  if (!all) return report_error(all.error());
  const auto chosen = queue::passes_to_retime(all->grades, check.passes,
                                              *plan ? (*plan)->batch_seed : std::string());
  const auto file = batch.out / "spot-check.csv";
  const std::atomic<bool>* const stop = catch_interrupts();
  std::vector<queue::Retimed> retimed;
  {
    report::Progress progress("timing again", static_cast<int>(chosen.size()), context.err,
                              context.err_is_terminal);
    for (const course::Grade* grade : chosen) {
      const int done = static_cast<int>(retimed.size());
      const std::string who = grade->student + ", " + grade->lab;
      retimed.push_back(
          queue::retime(batch.out, *grade, check.settings, stop,
                        [&](const std::string& doing) { progress.now(who + ", " + doing, done); }));
      if (*stop) return kExitInterrupted;
      const auto written = base::write_file(file, queue::spot_check_csv(retimed));
      if (!written) return report_error(written.error());
    }
  }
  std::size_t to_look_at = 0;
  for (const queue::Retimed& one : retimed) {
    if (!one.holds() || !one.problem.empty()) ++to_look_at;
    print_differences(one, context.out);
  }
  std::printf("%zu passes timed again on %s, %zu to look at: %s\n", retimed.size(),
              check.settings.device.name.c_str(), to_look_at, file.c_str());
  return kExitPassed;
}

}  // namespace membound::cli
