// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/checking.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <future>
#include <system_error>
#include <thread>

#include "grader/cli/action.hpp"
#include "grader/cli/build_info.hpp"
#include "grader/cli/messages.hpp"
#include "grader/report/progress.hpp"

namespace membound::cli {
namespace {

using course::Verdict;
using judge::DeviceCompiler;

/// The virtual GPU computes every thread on the CPU, which may be busy with other work.
constexpr double kVirtualSecondsPerStage = 1200;

base::Result<judge::CompilerInfo> choose_compiler(const Context& context, const std::string& wanted,
                                                  const Device& device) {
  const auto places = judge::compiler_places(context.place.root);
  if (wanted == "clang") {
    if (!device.is_virtual()) {
      return base::Error{base::ErrorKind::kUsage, "--compiler clang",
                         "makes code for the virtual GPU only, and this check is for a real one",
                         "", "--device vgpu, or --compiler nvcc"};
    }
    return judge::find_compiler(DeviceCompiler::kClang, places);
  }
  if (wanted == "nvcc" || !device.is_virtual())
    return judge::find_compiler(DeviceCompiler::kNvcc, places);
  return judge::find_any_compiler(places);
}

std::filesystem::path submission_of(const Context& context, const CheckOptions& options,
                                    const course::Lab& lab) {
  if (options.submission.empty()) return context.kernel_of(lab);
  std::error_code error;
  const auto whole = std::filesystem::absolute(options.submission, error);
  return error ? std::filesystem::path(options.submission) : whole.lexically_normal();
}

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

void add_check_options(CLI::App& command, CheckOptions& options, bool both) {
  command.add_option("--device", options.device);
  std::vector<std::string> compilers = {"nvcc", "clang"};
  if (both) compilers.emplace_back("both");
  command.add_option("--compiler", options.compiler)->check(CLI::IsMember(compilers));
  command.add_option("--seed", options.seed);
}

base::Result<Tools> choose_tools(const Context& context, const CheckOptions& options) {
  auto device = choose_device(options.device, context.place.root, context.place.build);
  if (!device) return device.error();
  const bool both = options.compiler == "both";
  auto compiler = choose_compiler(context, both ? "nvcc" : options.compiler, *device);
  if (!compiler) return compiler.error();
  Tools tools{std::move(*device), std::move(*compiler)};
  if (both) {
    auto clang = choose_compiler(context, "clang", tools.device);
    if (!clang) return clang.error();
    tools.second_compiler = std::move(*clang);
  }
  return tools;
}

judge::CheckRequest request_for(const Context& context, const Tools& tools,
                                const CheckOptions& options, const course::Selection& selection,
                                const std::atomic<bool>* stop) {
  judge::CheckRequest request;
  request.place = context.place;
  request.lab = selection.lab;
  request.stages = selection.stages;
  request.submission = submission_of(context, options, *selection.lab);
  request.compiler = tools.compiler;
  request.architecture = kArchitecture;
  request.device = tools.device.name;
  request.environment = tools.device.environment;
  if (tools.device.is_virtual()) {
    request.more_arguments = {"--counters"};
    if (options.trace) request.environment["MEMBOUND_TRACE"] = "on";
    request.seconds_per_stage = kVirtualSecondsPerStage;
    request.stages_at_once = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  request.seed = options.seed;
  request.version = kVersion;
  request.stop = stop;
  return request;
}

base::Result<Checked> check_labs(const Context& context, const Tools& tools,
                                 const CheckOptions& options,
                                 const std::vector<course::Selection>& selections,
                                 const std::atomic<bool>* stop,
                                 const std::function<void(const course::Result&)>& on_result) {
  std::vector<judge::CheckRequest> requests;
  std::vector<std::future<base::Result<judge::CompiledPair>>> compiling;
  for (const course::Selection& selection : selections)
    requests.push_back(request_for(context, tools, options, selection, stop));
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
    request.look_again = tools.device.is_virtual();
    request.on_second_look = [&](int stage) {
      progress->now(id + ", stage " + std::to_string(stage) + ": looking for the cause",
                    done + static_cast<int>(request.stages.size()));
    };
    const auto result = judge::run_and_judge(request, *code);
    progress.reset();  // its line goes before the result is printed
    if (!result) return result.error();
    done += static_cast<int>(request.stages.size());
    if (!result->stages.empty()) {
      if (options.submission.empty()) remember(context, *result);
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
  bool all_passed = !checked.results.empty();
  for (const course::Result& result : checked.results) {
    for (const course::StageResult& stage : result.stages)
      if (stage.verdict == Verdict::kInfraError) return kExitOurFault;
    all_passed = all_passed && result.passed();
  }
  return all_passed ? kExitPassed : kExitNotPassed;
}

}  // namespace membound::cli
