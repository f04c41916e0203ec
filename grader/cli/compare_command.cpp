// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound compare LAB/STAGE: one kernel, or two, on GPUs of several generations: how fast each
/// is, beside the most that the GPU does, and what binds.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/course/measurement.hpp"
#include "grader/report/comparison.hpp"

namespace membound::cli {
namespace {

struct CompareOptions : judge::CheckOptions {
  std::string stage;
  std::vector<std::string> devices = {"k80", "titan-v", "a100", "h200"};
  std::string with, picture;
  bool open = false;
};

/// A kernel.cu, and how rows call it.
struct Answer {
  std::string name, file;
};

base::Result<course::Selection> timed_stage(const course::Course& course, const std::string& word) {
  const auto selection = one_stage(course, word, "membound compare");
  if (!selection) return selection;
  if (!selection->lab->stage(selection->stages.front())->kind->has_reference)
    return base::Error{base::ErrorKind::kUsage, word, "a stage that is a whole program",
                       "a stage whose kernel is timed", "membound list " + selection->lab->id};
  return selection;
}

/// The tools for each device; the first wrong name ends it before anything runs.
base::Result<std::vector<judge::Tools>> tools_for(const Context& context,
                                                  const CompareOptions& options) {
  std::vector<judge::Tools> all;
  for (const std::string& name : options.devices) {
    judge::CheckOptions one = options;
    one.device = name.starts_with("vgpu") ? name : "vgpu:" + name;
    auto tools = chosen_tools(context.place, one);
    if (!tools) {
      base::Error error = tools.error();
      if (error.where == "--device") error.where = "--devices";
      return error;
    }
    all.push_back(*std::move(tools));
  }
  return all;
}

/// A kernel that does not compile runs nowhere: its messages, once.
base::Error not_compiled(const Answer& answer, const course::Result& result) {
  return {base::ErrorKind::kUsage, answer.file, "it does not compile:\n" + result.compiler_output,
          "a kernel.cu that compiles", "membound check " + result.lab};
}

/// "h200", or "h200, 4 SMs" where the lab runs on a slice of it.
std::string shown_gpu(const judge::Device& device, const course::DeviceInfo& seen) {
  const std::string id = device.name.substr(std::string_view("vgpu:").size());
  const bool slice = seen.name.find(" multiprocessors") != std::string::npos;
  return id + (slice ? ", " + std::to_string(seen.sm_count) + " SMs" : "");
}

base::Result<std::vector<report::ComparedRun>> run_all(const Context& context,
                                                       const CompareOptions& options,
                                                       const course::Selection& selection,
                                                       const std::vector<judge::Tools>& tools,
                                                       const std::vector<Answer>& answers,
                                                       const std::atomic<bool>* stop) {
  std::vector<report::ComparedRun> runs;
  for (const judge::Tools& on : tools) {
    for (const Answer& answer : answers) {
      if (context.err_is_terminal) std::fprintf(stderr, "\r\033[K%s", on.device.name.c_str());
      judge::CheckOptions one = options;
      one.submission = answer.file;
      const auto result = judge::check(judge::request_for(context.place, on, one, selection, stop));
      if (context.err_is_terminal) std::fputs("\r\033[K", stderr);
      if (!result) return result.error();
      if (stop->load()) return runs;
      const course::StageResult& stage = result->stages.front();
      if (stage.verdict == course::Verdict::kCompileError) return not_compiled(answer, *result);
      runs.push_back({shown_gpu(on.device, result->device),
                      course::gpu_generation(result->device.compute_capability), answer.name,
                      stage});
    }
  }
  return runs;
}

/// The sizes that were timed, by device where they differ.
void print_sizes(const std::vector<report::ComparedRun>& runs) {
  std::string before;
  for (const report::ComparedRun& run : runs) {
    std::string labels;
    for (const course::Timing& timing : run.stage.timings)
      base::add_word(labels, timing.label, "; ");
    if (labels.empty() || labels == before) continue;
    std::printf("%s: %s\n", before.empty() ? "timed" : run.gpu.c_str(), labels.c_str());
    before = labels;
  }
}

int run_compare(const CompareOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto selection = timed_stage(context->course, options.stage);
  if (!selection) return report_error(selection.error());
  const auto tools = tools_for(*context, options);
  if (!tools) return report_error(tools.error());
  const std::string own = options.submission.empty() ? context->kernel_of(*selection->lab).string()
                                                     : options.submission;
  std::vector<Answer> answers = {{"", own}};
  if (!options.with.empty()) {
    if (const auto text = base::read_file(options.with); !text) return report_error(text.error());
    answers = {{options.submission.empty() ? "yours" : "first", own}, {"with", options.with}};
  }
  const std::atomic<bool>* const stop = catch_interrupts();
  const auto runs = run_all(*context, options, *selection, *tools, answers, stop);
  if (!runs) return report_error(runs.error());
  if (stop->load()) return kExitInterrupted;
  const course::Lab& lab = *selection->lab;
  const int number = selection->stages.front();
  const std::string title = lab.id + "/" + std::to_string(number) + ", " + lab.stage(number)->title;
  std::printf("%s; all speeds are predicted\n", title.c_str());
  print_sizes(*runs);
  std::fputs(report::comparison_table(*runs, context->out).c_str(), stdout);
  std::filesystem::path picture = options.picture;
  if (picture.empty())
    picture = context->place.state / "pages" /
              ("compare-" + lab.id + "-" + std::to_string(number) + ".svg");
  const auto written = base::write_file(picture, report::comparison_picture(*runs, title));
  if (!written) return report_error(written.error());
  const bool shown = options.open && open_in_browser(picture);
  std::fprintf(stderr, "%s %s\n", shown ? "opened" : "the picture is", picture.c_str());
  for (const report::ComparedRun& run : *runs)
    if (!run.stage.speed) return kExitNotPassed;
  return kExitPassed;
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* const command = app.add_subcommand("compare", "");
  command->add_option("LAB", options->stage)->required();
  command->add_option("--devices", options->devices)->delimiter(',');
  command->add_option("--with", options->with);
  command->add_option("--submission", options->submission);
  command->add_option("--picture", options->picture);
  command->add_flag("--open", options->open);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang"});
  command->callback([options, &chosen] { chosen = [options] { return run_compare(*options); }; });
}

}  // namespace membound::cli
