// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound mark STUDENT LAB --points N --comment TEXT --out DIR
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/classroom/queue/class_grades.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct MarkOptions {
  std::string lab;
  queue::MarkRequest request;
  bool take_back = false;
};

int run_mark(MarkOptions options) {
  if (options.take_back == options.request.points.has_value())
    return report_error({base::ErrorKind::kUsage, "--points",
                         options.take_back ? "and --take-back" : "is missing", "one of both",
                         "membound mark --help"});
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto lab = context->course.find(options.lab);
  if (!lab) return report_error(lab.error());
  options.request.lab = (*lab)->id;
  const auto grade = queue::mark_by_hand(options.request);
  if (!grade) return report_error(grade.error());
  std::printf("%s, %s: %s of %s points; %s\n", course::shown_student(*grade).c_str(),
              grade->lab.c_str(), grade->score ? report::points(*grade->score).c_str() : "withheld",
              report::points(grade->max_score).c_str(), grade->note.c_str());
  return kExitPassed;
}

}  // namespace

void add_mark(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<MarkOptions>();
  CLI::App* const command = app.add_subcommand("mark", "");
  command->add_option("STUDENT", options->request.student)->required();
  command->add_option("LAB", options->lab)->required();
  command->add_option("--out", options->request.out)->required();
  takes_number(*command->add_option("--points", options->request.points), 0, 1e6);
  command->add_option("--comment", options->request.comment);
  command->add_flag("--take-back", options->take_back);
  command->add_option("--key", options->request.key_file);
  command->callback([options, &chosen] { chosen = [options] { return run_mark(*options); }; });
}

}  // namespace membound::cli
