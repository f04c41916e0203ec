// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound run [options] -- PROGRAM …: any CUDA program on the virtual GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/gpu_libraries.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/report/program_profile.hpp"

namespace membound::cli {
namespace {

struct RunOptions {
  std::string device = std::string("vgpu:") + judge::kDefaultModel;
  std::string counters, checks, scheduling, shuffle, step_limit, trace, html;
  bool profile = false;
  std::vector<std::string> program;
};

/// Why the virtual GPU will not see this program's calls; nothing if it will.
std::optional<base::Error> cannot_be_seen(const std::filesystem::path& program) {
  const auto content = base::read_file(program);
  if (!content || !content->starts_with("\x7f"
                                        "ELF"))
    return std::nullopt;  // a script may start anything
  for (const char* name : {"libcudart.so.13", "libcudart.so.12"})
    if (content->find(name) != std::string::npos) return std::nullopt;
  if (const auto at = content->find("libcudart.so."); at != std::string::npos) {
    const std::string library = content->substr(at, content->find('\0', at) - at);
    return base::Error{base::ErrorKind::kInput, program.string(), "uses " + library,
                       "libcudart.so.12 or .13, the runtime of CUDA 12 or 13",
                       "compile it with one of them: nvcc -cudart shared …"};
  }
  if (content->find("cudaMalloc") == std::string::npos &&
      content->find("__cudaRegisterFatBinary") == std::string::npos)
    return std::nullopt;  // no CUDA in it that we could name
  return base::Error{base::ErrorKind::kInput, program.string(),
                     "holds the CUDA runtime in itself, where nothing can stand in for it",
                     "a program that loads libcudart.so.12 or .13",
                     "link it with: nvcc -cudart shared …"};
}

/// So that the program starts, whatever libraries for GPUs it was linked with.
base::Status prepare_libraries(const std::filesystem::path& program) {
  const auto content = base::read_file(program);
  if (!content) return base::Done{};
  return preload(stand_ins_for(std::as_bytes(std::span(*content))));
}

/// Why nothing of this name can be run.
base::Error cannot_be_run(const std::string& name) {
  base::Error error{base::ErrorKind::kUsage, name, "", "a program", "membound run --help"};
  std::error_code ignored;
  if (!std::filesystem::exists(name, ignored)) {
    const bool looked_up = name.find('/') == std::string::npos;
    error.found = looked_up ? "there is no such program in $PATH" : "there is no such file";
  } else if (std::filesystem::is_directory(name, ignored)) {
    error.found = "is a folder";
  } else if (access(name.c_str(), X_OK) == 0) {
    error.found = "is not in $PATH, but in this folder";
    error.advice = "membound run -- ./" + name;
  } else {
    error.found = "is not executable";
    error.advice = name.ends_with(".cu") ? "compile it: nvcc -cudart shared -o program " + name
                                         : "chmod +x " + name + ", if it is one";
  }
  return error;
}

/// What the counters file of a program that has ended says, on the terminal and as a page.
base::Status show_profile(const RunOptions& options) {
  const auto text = base::read_file(options.counters);
  const nlohmann::json counters =
      text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  if (!counters.is_object())
    return base::Error{base::ErrorKind::kInput, options.program.front(),
                       "ended without using CUDA, so nothing was counted",
                       "a program that launches kernels", ""};
  report::ProgramProfile profile{"", counters.value("device", ""), judge::profiles(counters),
                                 judge::source_lines(counters)};
  for (const std::string& word : options.program) base::add_word(profile.program, word, " ");
  const report::Style style = report::Style::for_stream(STDOUT_FILENO);
  std::printf("\n%s", report::render_program(profile, read_source, style).c_str());
  if (options.html.empty()) return base::Done{};
  if (auto written = base::write_file(options.html, report::program_page(profile, read_source));
      !written)
    return written;
  std::fprintf(stderr, "the page is %s\n", options.html.c_str());
  return base::Done{};
}

/// Runs the program beside us and shows its profile. The exit code is the program's, as a shell
/// counts it.
int run_profiled(const RunOptions& options, const std::string& program, char* const* arguments) {
  const pid_t child = fork();
  if (child == 0) {
    execv(program.c_str(), arguments);
    _exit(127);
  }
  // Ctrl-C is for the program: what it did until then is shown.
  std::signal(SIGINT, SIG_IGN);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) {
    return report_error({base::ErrorKind::kMachine, program,
                         "cannot be started: " + base::reason_text(errno), "", ""});
  }
  if (const auto shown = show_profile(options); !shown) report_error(shown.error());
  constexpr int kBySignal = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

int run_run(RunOptions options) {
  std::optional<base::ScratchFolder> scratch;  // none after a program that takes our place
  if (!options.html.empty()) options.profile = true;
  if (options.profile && options.counters.empty())
    options.counters = (scratch.emplace("run").path() / "counters.json").string();
  if (!options.html.empty() && options.trace.empty()) options.trace = "on";
  const auto device = judge::choose_device(
      options.device, build_folder(),
      base::Error{base::ErrorKind::kUsage, "--device", "a GPU needs no help to run a program",
                  "vgpu or vgpu:MODEL", "start the program by itself"});
  if (!device) return report_error(device.error());
  const char* const path = std::getenv("PATH");
  const auto program = base::find_in_path(options.program.front(), path == nullptr ? "" : path);
  if (program.empty()) return report_error(cannot_be_run(options.program.front()));
  if (const auto error = cannot_be_seen(program)) return report_error(*error);
  if (const auto ready = prepare_libraries(program); !ready) return report_error(ready.error());
  // For the program that takes our place; no other thread runs. NOLINTBEGIN(concurrency-mt-unsafe)
  for (const auto& [name, value] : device->environment) setenv(name.c_str(), value.c_str(), 1);
  const std::pair<const char*, const std::string&> settings[] = {
      {"MEMBOUND_COUNTERS", options.counters},     {"MEMBOUND_CHECK", options.checks},
      {"MEMBOUND_SCHEDULING", options.scheduling}, {"MEMBOUND_SHUFFLE", options.shuffle},
      {"MEMBOUND_STEP_LIMIT", options.step_limit}, {"MEMBOUND_TRACE", options.trace}};
  for (const auto& [name, value] : settings)
    if (!value.empty()) setenv(name, value.c_str(), 1);
  if (!options.profile) setenv("MEMBOUND_SUMMARY", "on", 1);
  // NOLINTEND(concurrency-mt-unsafe)
  std::vector<char*> arguments;
  for (const std::string& argument : options.program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  if (options.profile) return run_profiled(options, program.string(), arguments.data());
  execv(program.c_str(), arguments.data());
  return report_error({base::ErrorKind::kMachine, program.string(),
                       "cannot be started: " + base::reason_text(errno), "", ""});
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* const command = app.add_subcommand("run", "");
  command->add_option("--device", options->device);
  command->add_option("--counters", options->counters);
  command->add_option("--check", options->checks);
  takes_one_of(*command->add_option("--scheduling", options->scheduling),
               {"independent", "lockstep"});
  takes_whole(*command->add_option("--shuffle", options->shuffle));
  takes_whole(*command->add_option("--step-limit", options->step_limit));
  command->add_option("--trace", options->trace);
  command->add_flag("--profile", options->profile);
  command->add_option("--html", options->html);
  command->add_option("PROGRAM", options->program)->required();
  command->prefix_command(false);
  command->callback([options, &chosen] { chosen = [options] { return run_run(*options); }; });
}

}  // namespace membound::cli
