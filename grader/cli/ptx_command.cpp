// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound ptx LAB/STAGE, or FILE: the instructions of a kernel, by source line.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "grader/cli/checking.hpp"
#include "grader/cli/code_listing.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"

namespace membound::cli {
namespace {

struct PtxOptions : judge::CheckOptions {
  std::string of, kernel;
  bool sass = false;
};

/// The code of a stage, compiled as `membound check` compiles it. `kernel` becomes the stage's
/// where nobody named one.
base::Result<std::filesystem::path> compiled_stage(const PtxOptions& options, std::string& kernel,
                                                   const std::atomic<bool>* stop) {
  const auto context = make_context();
  if (!context) return context.error();
  const auto selection = one_stage(context->course, options.of, "membound ptx");
  if (!selection) return selection.error();
  judge::CheckOptions on_virtual_gpu = options;
  on_virtual_gpu.device = "vgpu";
  const auto tools = judge::choose_tools(context->place, on_virtual_gpu);
  if (!tools) return tools.error();
  const judge::CheckRequest request =
      judge::request_for(context->place, *tools, on_virtual_gpu, *selection, stop);
  const auto code = judge::compile_submission(request);
  if (!code) return code.error();
  if (!code->any_compiled()) {
    return base::Error{base::ErrorKind::kUsage, request.submission.string(),
                       "it does not compile:\n" + code->first_problem().output,
                       "a kernel.cu that compiles", "membound check " + options.of};
  }
  const course::Stage& stage = *selection->lab->stage(selection->stages.front());
  if (kernel.empty() && stage.kind->has_reference) kernel = stage.kernel;
  return code->file();
}

base::Result<std::string> machine_code(const std::filesystem::path& file,
                                       const std::string& kernel) {
  const auto root = course_root();
  const auto disassembly =
      disassembly_of(file, compilers::compiler_places(root ? *root : std::filesystem::path()));
  if (!disassembly) return disassembly.error();
  return list_machine_code(*disassembly, kernel, read_source);
}

int run_ptx(const PtxOptions& options) {
  std::string kernel = options.kernel;
  std::filesystem::path file = options.of;
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) {
    if (file.has_extension())
      return report_error({base::ErrorKind::kInput, options.of, "there is no such file",
                           "a program, a fatbin or a PTX file; or a stage: LAB/STAGE", ""});
    const std::atomic<bool>* const stop = catch_interrupts();
    const auto compiled = compiled_stage(options, kernel, stop);
    if (stop->load()) return kExitInterrupted;
    if (!compiled) return report_error(compiled.error());
    file = *compiled;
  }
  const auto listing =
      options.sass ? machine_code(file, kernel) : list_code(file, kernel, read_source);
  if (!listing) return report_error(listing.error());
  std::fputs(listing->c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_ptx(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PtxOptions>();
  CLI::App* const command = app.add_subcommand("ptx", "");
  command->add_option("LAB", options->of)->required();
  command->add_option("--kernel", options->kernel);
  command->add_flag("--sass", options->sass);
  command->add_option("--submission", options->submission);
  takes_one_of(*command->add_option("--compiler", options->compiler), {"nvcc", "clang"});
  command->callback([options, &chosen] { chosen = [options] { return run_ptx(*options); }; });
}

}  // namespace membound::cli
