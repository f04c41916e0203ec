// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound machine calibrate: times the microbenchmarks on this machine's GPU, and writes its
/// machine file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "grader/base/process.hpp"
#include "grader/base/scratch_folder.hpp"
#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/vgpu/calibration/calibration.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;
using vgpu::timing::MachineFile;

struct CalibrateOptions {
  std::string id, like, out, readings;
};

/// A GPU in use by others, or one that is slow to start, takes longer than some seconds.
constexpr double kCompileSeconds = 600, kRunSeconds = 300;

base::Result<std::string> output_of(const base::ProcessRequest& request, const char* what) {
  auto outcome = base::run_process(request);
  if (!outcome) return outcome.error();
  if (outcome->exit_code != 0)
    return base::Error{base::ErrorKind::kMachine, what, outcome->output, "it ends with exit code 0",
                       "membound doctor"};
  return std::move(outcome->output);
}

/// What the microbenchmarks print on this machine's GPU.
base::Result<std::string> measured(const fs::path& root) {
  const judge::GpuAnswer gpu = judge::ask_gpu();
  if (!gpu.answers)
    return base::Error{base::ErrorKind::kMachine, "membound machine calibrate",
                       "no GPU answers: " + gpu.problem, "an NVIDIA GPU with its driver",
                       "--readings FILE, with what was measured elsewhere"};
  const auto nvcc =
      compilers::find_compiler(compilers::DeviceCompiler::kNvcc, compilers::compiler_places(root));
  if (!nvcc) return nvcc.error();
  const base::ScratchFolder scratch("calibrate");
  const fs::path program = scratch.path() / "microbenchmarks";
  const auto compiled =
      output_of({.arguments = {nvcc->program.string(), "-std=c++17", "-O2", "-arch=native", "-I",
                               root.string(), "-o", program.string(),
                               (root / "grader/vgpu/calibration/microbenchmarks.cu").string()},
                 .timeout_seconds = kCompileSeconds},
                "compiling the microbenchmarks");
  if (!compiled) return compiled.error();
  return output_of({.arguments = {program.string()}, .timeout_seconds = kRunSeconds},
                   "the microbenchmarks");
}

/// The known machine whose numbers stand where nothing was measured: of the same name, else of the
/// same compute capability, else the H200.
base::Result<MachineFile> base_for(const CalibrateOptions& options,
                                   const vgpu::calibration::Readings& readings) {
  if (!options.like.empty())
    return vgpu::timing::find_machine_file(options.like, vgpu::timing::own_machines_folder());
  const auto reading = [&](const char* name) {
    const auto found = readings.of.find(std::string("device,") + name);
    return found == readings.of.end() ? 0 : found->second;
  };
  std::string same;
  for (const MachineFile& file : vgpu::timing::machine_files({})) {
    const auto machine = vgpu::timing::machine_of(file);
    if (machine && machine->name == readings.gpu) return file;
    if (machine && machine->compute_major == reading("compute_major") &&
        machine->compute_minor == reading("compute_minor") && same.empty())
      same = file.id;
  }
  return vgpu::timing::find_machine_file(same.empty() ? judge::kDefaultModel : same, {});
}

void print_changes(const vgpu::calibration::Calibration& made, const std::string& base) {
  std::printf("%-30s %14s %14s\n", "", base.c_str(), "measured");
  for (const auto& number : made.numbers)
    std::printf("%-30s %14.6g %14.6g\n", number.field.c_str(), number.before, number.now);
}

int run_calibrate(const CalibrateOptions& options) {
  const auto root = course_root();
  if (!root) return report_error(root.error());
  const auto text = options.readings.empty() ? measured(*root) : base::read_file(options.readings);
  if (!text) return report_error(text.error());
  const std::string where = options.readings.empty() ? "microbenchmarks" : options.readings;
  auto readings = vgpu::calibration::read_readings(*text, where);
  if (!readings) return report_error(readings.error());
  if (options.readings.empty()) readings->label += ", " + judge::utc_now().substr(0, 10);
  const auto base = base_for(options, *readings);
  if (!base) return report_error(base.error());
  const std::string id = options.id.empty() ? "my-" + base->id : options.id;
  fs::path file = options.out;
  if (file.empty()) {
    const fs::path folder = vgpu::timing::own_machines_folder();
    if (folder.empty())
      return report_error({base::ErrorKind::kUsage, "--out", "missing, and there is no HOME",
                           "where the file goes", "--out " + id + ".json"});
    file = folder / (id + ".json");
  }
  const auto made = vgpu::calibration::calibrate(*base, id, *readings);
  if (!made) return report_error(made.error());
  for (const auto& [path, content] : {std::pair<fs::path, const std::string&>(file, made->json),
                                      {fs::path(file).replace_extension(".csv"), *text}}) {
    const auto written = base::write_file(path, content);
    if (!written) return report_error(written.error());
  }
  print_changes(*made, base->id);
  std::printf("%s: %zu numbers measured, the others are %s's\n", file.c_str(), made->numbers.size(),
              base->id.c_str());
  std::printf("its readings: %s\n", fs::path(file).replace_extension(".csv").c_str());
  if (options.out.empty()) std::printf("use it: --device vgpu:%s\n", id.c_str());
  return kExitPassed;
}

}  // namespace

void add_machine_calibrate(CLI::App& machine, Action& chosen) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* const command = machine.add_subcommand("calibrate", "");
  command->add_option("--id", options->id);
  command->add_option("--like", options->like);
  command->add_option("--out", options->out);
  command->add_option("--readings", options->readings);
  command->callback([options, &chosen] { chosen = [options] { return run_calibrate(*options); }; });
}

}  // namespace membound::cli
