// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/checking.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <future>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/report/progress_bar.hpp"

namespace membound::cli {
namespace {

int count_stages(const std::vector<course::Selection>& selections) {
  std::size_t count = 0;
  for (const course::Selection& selection : selections) count += selection.stages.size();
  return static_cast<int>(count);
}

/// Keeps a lab's state; a state that cannot be kept is no reason to lose the verdict.
void remember(const Context& context, const course::Result& result) {
  const auto kept = context.states().remember(result);
  if (!kept) report_note("progress is not kept: " + base::to_string(kept.error()));
}

}  // namespace

void add_check_options(CLI::App& command, judge::CheckOptions& options, bool both) {
  command.add_option("--device", options.device);
  std::vector<std::string> compilers = {"nvcc", "clang"};
  if (both) compilers.emplace_back("both");
  takes_one_of(*command.add_option("--compiler", options.compiler), compilers);
  takes_whole(*command.add_option("--seed", options.seed));
}

base::Result<judge::Tools> chosen_tools(const judge::Workplace& place,
                                        const judge::CheckOptions& options) {
  auto tools = judge::choose_tools(place, options);
  if (tools && !tools->device.instead.empty()) report_note(tools->device.instead);
  if (tools && !tools->compiler.passed_over.empty())
    report_note(tools->compiler.passed_over + "; " + tools->compiler.name() + " takes its place");
  return tools;
}

base::Status check_size(const std::string& size, const std::vector<course::Selection>& selections) {
  constexpr double kMostElements = 1 << 28;  // minutes of the virtual GPU
  std::vector<std::string> numbers;
  double elements = 1;
  for (std::size_t start = 0; start <= size.size();) {
    const auto end = std::min(size.find('x', start), size.size());
    numbers.push_back(size.substr(start, end - start));
    start = end + 1;
    const bool whole = !numbers.back().empty() && numbers.back().size() < 10 &&
                       numbers.back().find_first_not_of("0123456789") == std::string::npos;
    elements *= whole ? std::stod(numbers.back()) : 0;
  }
  for (const course::Selection& selection : selections) {
    // Of the names that a launch is given, the first are what a test chooses.
    const course::Stage& stage = *selection.lab->stage(selection.stages.front());
    if (stage.timed_sizes.empty()) continue;  // a program: nothing of it is timed
    const std::size_t count = stage.timed_sizes.front().size();
    std::string form, smallest;
    for (std::size_t i = 0; i < std::min(count, selection.lab->size_names.size()); ++i) {
      form += (i == 0 ? "" : "x") + selection.lab->size_names[i];
      smallest += (i == 0 ? "" : "x") + std::to_string(stage.timed_sizes.back()[i]);
    }
    if (numbers.size() == count && elements >= 1 && elements <= kMostElements) continue;
    return base::Error{
        base::ErrorKind::kUsage, "--size", "\"" + size + "\"",
        form + " for " + selection.lab->id + ": whole numbers from 1, at most 268,435,456 together",
        "--size " + smallest};
  }
  return base::Done{};
}

base::Result<std::vector<const course::Lab*>> labs_of(const course::Course& course,
                                                      const std::vector<std::string>& words) {
  std::vector<const course::Lab*> labs;
  for (const std::string& word : words) {
    const auto lab = course.find(word);
    if (!lab) return lab.error();
    labs.push_back(*lab);
  }
  if (labs.empty())
    for (const course::Lab& lab : course.labs) labs.push_back(&lab);
  return labs;
}

base::Result<course::Selection> one_stage(const course::Course& course, const std::string& word,
                                          const std::string& command) {
  auto selection = course::select(course, word);
  if (!selection || selection->stages.size() == 1) return selection;
  return base::Error{base::ErrorKind::kUsage, word,
                     std::to_string(selection->stages.size()) + " stages", "one stage",
                     command + " " + selection->lab->id + "/1"};
}

base::Result<Checked> check_labs(const Context& context, const judge::Tools& tools,
                                 const judge::CheckOptions& options,
                                 const std::vector<course::Selection>& selections,
                                 const std::atomic<bool>* stop,
                                 const std::function<void(const course::Result&)>& on_result) {
  std::vector<judge::CheckRequest> requests;
  std::vector<std::future<base::Result<judge::CompiledSubmission>>> compiling;
  for (const course::Selection& selection : selections) {
    requests.push_back(judge::request_for(context.place, tools, options, selection, stop));
    // One test alone may not be the one that makes a picture.
    if (!options.test.empty()) continue;
    std::error_code ignored;
    for (const int stage : selection.stages)
      std::filesystem::remove(context.picture_of(selection.lab->id, stage), ignored);
    requests.back().more_arguments.insert(
        requests.back().more_arguments.end(),
        {"--pictures", context.picture_of(selection.lab->id, 1).parent_path().string()});
  }
  compiling.reserve(requests.size());
  for (const judge::CheckRequest& request : requests) {
    compiling.push_back(
        std::async(std::launch::async, [&request] { return judge::compile_submission(request); }));
  }
  Checked checked;
  int done = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    judge::CheckRequest& request = requests[i];
    const std::string id = request.lab->id;
    auto progress = std::make_unique<report::Progress>("checking", count_stages(selections),
                                                       context.err, context.err_is_terminal);
    progress->now("compiling " + id, done);
    const auto code = compiling[i].get();
    if (!code) return code.error();
    request.on_tick = [&](int stage) {
      const auto place = std::find(request.stages.begin(), request.stages.end(), stage);
      progress->now(id + ", stage " + std::to_string(stage),
                    done + static_cast<int>(place - request.stages.begin()));
    };
    request.reruns.at_failures = request.reruns.at_right_results =
        tools.device.kind->has_checkers() || judge::has_vgpu(context.place.build);
    request.profiling.counters = judge::has_vgpu(context.place.build);
    if (const char* const path = std::getenv("PATH"); !options.sanitizer.empty())
      request.sanitizer =
          judge::find_compute_sanitizer(path == nullptr ? "" : path, tools.compiler.program);
    request.on_checker_rerun = [&](int stage) {
      progress->now(id + ", stage " + std::to_string(stage) + ": looking for the cause",
                    done + static_cast<int>(request.stages.size()));
    };
    const auto result = judge::run_and_judge(request, *code);
    progress.reset();  // its line goes before the result is printed
    if (!result) return result.error();
    done += static_cast<int>(request.stages.size());
    if (!result->stages.empty()) {
      const bool whole = options.submission.empty() && options.test.empty() && options.size.empty();
      if (whole) remember(context, *result);
      checked.results.push_back(*result);
      on_result(*result);
    }
    if (stop != nullptr && stop->load()) {
      checked.stopped = true;
      break;
    }
  }
  return checked;
}

int exit_code_of(const Checked& checked) {
  if (checked.stopped) return kExitInterrupted;
  if (checked.results.empty()) return kExitNotPassed;
  int code = kExitPassed;
  for (const course::Result& result : checked.results) {
    if (result.stages.empty()) code = std::max(code, kExitNotPassed);
    for (const course::StageResult& stage : result.stages)
      code = std::max(code, course::row_of(stage.verdict).exit_code);
  }
  return code;
}

}  // namespace membound::cli
