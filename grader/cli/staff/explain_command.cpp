// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound explain STUDENT --out DIR
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/classroom/queue/replay.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/grade_options.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct ExplainOptions : judge::CheckOptions {
  std::string student;
  std::string out;
  std::string lab;
  std::string key;
  bool no_replay = false;
};

void print_grade(const course::Grade& grade) {
  std::printf("%s%s, %s\n", grade.student.c_str(),
              grade.student_name.empty() ? "" : (" (" + grade.student_name + ")").c_str(),
              grade.lab.c_str());
  const auto line = [](const char* what, const std::string& text) {
    if (!text.empty()) std::printf("  %s%s\n", report::padded(what, 14).c_str(), text.c_str());
  };
  line("verdict", !grade.verdict ? "nothing submitted"
                                 : std::string(course::to_string(*grade.verdict)) + ": " +
                                       std::string(course::row_of(*grade.verdict).meaning));
  line("score", grade.score
                    ? report::points(*grade.score) + " of " + report::points(grade.max_score)
                    : "withheld until a person has looked");
  line("why", grade.note);
  line("audit", course::audit_text(grade.audit));
  if (grade.audit)
    for (const course::AuditedStage& stage : grade.audit->stages)
      if (!stage.note.empty()) line("", "stage " + std::to_string(stage.stage) + ": " + stage.note);
  if (!grade.submitted_at.empty())
    line("handed in",
         grade.submitted_at + (grade.time_from == "record" ? ", as the platform recorded"
                                                           : ", by the date of a file"));
  line("late", course::late_text(grade));
  line("found in", grade.origin);
  line("submission", grade.submission_sha256);
  if (grade.result.stages.empty() && grade.graded_at.empty()) return;  // nothing was run
  line("graded", grade.graded_at + " on " + grade.device);
  line("compiler", grade.result.compiler);
  // Both draw the data; reports of single results show the number alone.
  line("seed",
       std::to_string(grade.seed) + (grade.seed_key.empty() ? "" : ", key " + grade.seed_key));
  line("limits", grade.limits_in_force);
}

/// 0 when the verdict is repeated, 1 when it is not, 3 when our own side failed.
int replay_one(const Context& context, const ExplainOptions& options, const course::Grade& grade,
               const queue::Settings& settings, const std::atomic<bool>* stop) {
  auto progress =
      std::make_unique<report::Progress>("repeating", 0, context.err, context.err_is_terminal);
  const auto again = queue::replay(options.out, grade, settings, stop,
                                   [&](const std::string& doing) { progress->now(doing, 0); });
  progress.reset();
  if (!again) return report_error(again.error());
  if (again->repeated.verdict == course::GradeVerdict::kInfraError)
    return report_error(
        {base::ErrorKind::kMachine, grade.student, again->repeated.note, "", "membound doctor"});
  std::fputs((report::render(again->repeated.result, context.out) + "\n").c_str(), stdout);
  for (const std::string& changed : again->changed)
    std::printf("changed since the verdict: %s\n", changed.c_str());
  for (const std::string& difference : again->differences) std::printf("%s\n", difference.c_str());
  if (!again->differences.empty()) {
    std::printf("The verdict is not repeated%s.\n",
                again->changed.empty() ? ", though nothing is known to have changed" : "");
    return kExitNotPassed;
  }
  std::printf("Repeated with the same seed: verdict, points, ratios and tests are the same.\n");
  return kExitPassed;
}

int run_explain(const ExplainOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  std::string lab;
  if (!options.lab.empty()) {
    const auto found = context->course.find(options.lab);
    if (!found) return report_error(found.error());
    lab = (*found)->id;
  }
  const auto grades = queue::find_grades(options.out, options.key, options.student, lab);
  if (!grades) return report_error(grades.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  int worst = kExitPassed;
  for (const course::Grade& grade : *grades) {
    print_grade(grade);
    if (grade.result.stages.empty() || options.no_replay) continue;
    judge::CheckOptions before =
        as_before(options, course::is_virtual_device(grade.device) ? grade.device : "vgpu",
                  grade.result.compiler);
    before.no_gpu =
        base::Error{base::ErrorKind::kUsage, "--device", "a real GPU never times the same",
                    "a virtual one", "--device vgpu:h200"};
    // As it was graded: what was not trusted then is confined now.
    const auto settings = grading_settings(*context, before, grade.seed_key.empty());
    if (!settings) return report_error(settings.error());
    if (const auto confined = queue::limits_in_force(*settings); !confined)
      return report_error(confined.error());
    worst = std::max(worst, replay_one(*context, options, grade, *settings, stop));
  }
  return worst;
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* const command = app.add_subcommand("explain", "");
  command->add_option("STUDENT", options->student)->required();
  command->add_option("--out", options->out)->required();
  command->add_option("--lab", options->lab);
  command->add_option("--key", options->key);
  command->add_flag("--no-replay", options->no_replay);
  command->add_option("--device", options->device);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang"});
  command->callback([options, &chosen] { chosen = [options] { return run_explain(*options); }; });
}

}  // namespace membound::cli
