// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound experiment [NAME]: one kernel at several points, beside what a document of the course
/// printed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/judge/experiment_run.hpp"
#include "grader/report/experiment_text.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct ExperimentOptions : judge::CheckOptions {
  std::string name, html;
  std::uint64_t number = 0;
  bool json = false;
};

int list_all(const Context& context, const std::vector<course::Experiment>& all) {
  if (all.empty()) {
    std::fputs("no experiments: they come with the handouts, some when a lab is over\n", stdout);
    return kExitPassed;
  }
  std::fputs(report::render_experiments(all, context.out).c_str(), stdout);
  std::fputs("\nmembound experiment NAME runs one; --device chooses the GPU\n", stdout);
  return kExitPassed;
}

/// An experiment that is a program prints its own table.
int run_program(const Context& context, const ExperimentOptions& options,
                const course::Experiment& experiment) {
  if (options.json || options.number > 0 || !options.html.empty())
    return report_error({base::ErrorKind::kUsage, experiment.name,
                         "an option that a program does not take",
                         "--device alone: it chooses its sizes, and prints its own table",
                         "membound experiment " + experiment.name});
  const auto tools = chosen_tools(context.place, options);
  if (!tools) return report_error(tools.error());
  const judge::ProgramRun program = judge::program_of(experiment, *tools);
  std::string command = experiment.file.filename().string();
  for (const std::string& word : program.arguments) command += " " + word;
  for (const auto& [name, value] : program.environment)
    command = name + "=" + value + " " + command;
  const bool is_virtual = tools->device.kind->predicts_times();
  std::fputs(
      report::wrapped(experiment.name + ": " + experiment.title, context.out.width, 0).c_str(),
      stdout);
  std::fputs(report::wrapped(command + " on " + tools->device.name +
                                 (is_virtual ? ", times are predicted" : ""),
                             context.out.width, 0)
                 .c_str(),
             stdout);
  std::fflush(stdout);
  const std::atomic<bool>* const stop = catch_interrupts();
  const auto output = judge::run_program(context.place, program, *tools, stop);
  if (stop->load()) return kExitInterrupted;
  if (!output) return report_error(output.error());
  std::printf("\n%s\nhandout %s, \"%s\"\n", output->c_str(), experiment.lab.c_str(),
              experiment.section.c_str());
  return kExitPassed;
}

int run_experiment(const ExperimentOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto all = course::read_experiments(context->place.root);
  if (!all) return report_error(all.error());
  if (options.name.empty()) return list_all(*context, *all);
  const auto experiment = course::find_experiment(*all, options.name);
  if (!experiment) return report_error(experiment.error());
  if (experiment->program) return run_program(*context, options, *experiment);
  const auto tools = chosen_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  judge::ExperimentRequest request{context->place, *tools, *experiment,
                                   static_cast<std::int64_t>(options.number), stop};
  auto progress =
      std::make_unique<report::Progress>("timing", static_cast<int>(experiment->points.size()),
                                         context->err, context->err_is_terminal);
  progress->now("compiling", 0);
  request.on_tick = [&](std::size_t done) {
    if (done < experiment->points.size())
      progress->now(experiment->axis + " " + experiment->points[done].label,
                    static_cast<int>(done));
  };
  auto run = judge::run_experiment(request);
  progress.reset();  // its line goes before the table is printed
  if (!run) return report_error(run.error());
  if (run->predicted) run->device = tools->device.name;
  if (options.json)
    std::printf("%s\n", report::experiment_json(*run).dump(2).c_str());
  else if (!run->times.empty())
    std::fputs(report::render_experiment(*run, context->out).c_str(), stdout);
  if (stop->load()) return kExitInterrupted;
  if (options.html.empty()) return kExitPassed;
  const auto written = base::write_file(options.html, report::experiment_page(*run));
  if (!written) return report_error(written.error());
  std::fprintf(stderr, "the page is %s\n", options.html.c_str());
  return kExitPassed;
}

}  // namespace

void add_experiment(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ExperimentOptions>();
  CLI::App* const command = app.add_subcommand("experiment", "");
  command->add_option("NAME", options->name);
  command->add_option("--device", options->device);
  takes_whole(*command->add_option("--size", options->number), 1, 1u << 31);
  command->add_option("--html", options->html);
  command->add_flag("--json", options->json);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang"});
  command->callback(
      [options, &chosen] { chosen = [options] { return run_experiment(*options); }; });
}

}  // namespace membound::cli
