// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound machine list, show and calibrate: machine files as people read them, all in a
/// table, one with where each number is from.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/course/measurement.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/report/text.hpp"
#include "grader/vgpu/calibration/calibration.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::cli {

namespace {

using vgpu::timing::Machine;
using vgpu::timing::MachineFile;

constexpr std::size_t kNameColumns = 30, kValueColumns = 14;

/// Nine digits and no needless zero: what the file says, not rounded.
std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

/// How many numbers have a source of this kind.
std::size_t count_of(const MachineFile& file, std::string_view kind) {
  const auto has = [&](const auto& number) { return number.source.starts_with(kind); };
  const auto numbers = vgpu::timing::read_sources(file.json);
  const auto costs = vgpu::timing::read_cost_sources(file.json);
  return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), has) +
                                  std::count_if(costs.begin(), costs.end(), has));
}

std::string counts_text(const MachineFile& file) {
  return std::to_string(count_of(file, "[measured]")) + ", " +
         std::to_string(count_of(file, "[published]")) + ", " +
         std::to_string(count_of(file, "[recalled]"));
}

/// Without the maker's name, which most have.
std::string shown_name(const Machine& machine) {
  constexpr std::string_view kMaker = "NVIDIA ";
  return machine.name.starts_with(kMaker) ? machine.name.substr(kMaker.size()) : machine.name;
}

bool is_hidden(const std::vector<MachineFile>& files, const MachineFile& own) {
  return !own.built_in && std::any_of(files.begin(), files.end(), [&](const MachineFile& other) {
    return other.built_in && other.id == own.id;
  });
}

/// A number, what it is, and below that where it is from.
std::string entry(const std::string& name, const std::string& value, std::string_view meaning,
                  const std::string& source, const report::Style& style) {
  constexpr int kIndent = 4;
  std::string text = report::padded(name, kNameColumns) + report::padded(value, kValueColumns);
  const auto room = static_cast<std::size_t>(style.width) - kNameColumns - kValueColumns;
  if (report::columns(meaning) <= room)
    text += std::string(meaning) + "\n";
  else
    text += "\n" + report::wrapped(meaning, style.width, kIndent);
  return text + style.paint(report::wrapped(source, style.width, kIndent), report::Tone::kFaint);
}

/// A row for each file that can be used.
std::string machine_table(const std::vector<MachineFile>& files, const report::Style& style) {
  std::vector<std::vector<report::Cell>> rows = {{{"model"},
                                                  {"GPU"},
                                                  {"generation"},
                                                  {"SMs", true},
                                                  {"GHz", true},
                                                  {"GB/s", true},
                                                  {"sources", true}}};
  for (const MachineFile& file : files) {
    const auto machine = vgpu::timing::machine_of(file);
    if (!machine || is_hidden(files, file)) continue;
    rows.push_back({{file.id + (file.built_in ? "" : " (own)")},
                    {shown_name(*machine)},
                    {course::gpu_generation(static_cast<int>(machine->compute_major),
                                            static_cast<int>(machine->compute_minor))},
                    {std::to_string(machine->sm_count), true},
                    {report::amount(machine->clock_ghz), true},
                    {report::amount(machine->dram_peak_gbs), true},
                    {counts_text(file), true}});
  }
  return report::text_table(rows, style);
}

/// What is wrong with files of one's own: broken ones, and those that one built in hides.
std::vector<base::Error> machine_problems(const std::vector<MachineFile>& files) {
  std::vector<base::Error> problems;
  for (const MachineFile& file : files) {
    if (is_hidden(files, file))
      problems.push_back({base::ErrorKind::kInput, file.where,
                          "never used: a machine of this name is built in",
                          "a name of its own, in the file too", ""});
    else if (const auto machine = vgpu::timing::machine_of(file); !machine)
      problems.push_back(machine.error());
  }
  return problems;
}

/// One machine, number by number. `file` must be one that machine_of() accepts.
std::string machine_page(const MachineFile& file, const Machine& machine,
                         const report::Style& style) {
  std::string text = style.paint(file.id + ": " + machine.name, report::Tone::kStrong) + "\n";
  text += "  " +
          course::gpu_generation(static_cast<int>(machine.compute_major),
                                 static_cast<int>(machine.compute_minor)) +
          (file.built_in ? ", built in" : ", " + file.where) +
          "; numbers measured, published, recalled: " + counts_text(file) + "\n\n";
  for (const auto& number : vgpu::timing::read_sources(file.json))
    text += entry(number.field, exact(number.value), vgpu::timing::meaning_of(number.field),
                  number.source, style);
  const auto costs = vgpu::timing::read_cost_sources(file.json);
  text += "\n" + report::wrapped(costs.empty()
                                     ? "Instructions: no costs of its own; those of an H200."
                                     : "Instructions: slots of a pipe (quarters of a clock), and "
                                       "clocks until a warp alone goes on. Classes that are not "
                                       "listed cost what they do on an H200.",
                                 style.width, 0);
  for (const auto& cost : costs)
    text += entry(cost.name, exact(cost.slots), exact(cost.latency_clocks) + " clocks alone",
                  cost.source, style);
  return text;
}

namespace fs = std::filesystem;

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

namespace {

/// Broken files do not keep the others from being listed.
int run_machine_list() {
  const auto folder = vgpu::timing::own_machines_folder();
  const auto files = vgpu::timing::machine_files(folder);
  std::fputs(machine_table(files, report::Style::for_stream(1)).c_str(), stdout);
  std::printf("\nsources: how many numbers were measured, published, recalled\n");
  if (!folder.empty()) std::printf("own files: %s\n", (folder / "NAME.json").c_str());
  std::fflush(stdout);
  int code = kExitPassed;
  for (const base::Error& problem : machine_problems(files)) code = report_error(problem);
  return code;
}

int run_machine_show(std::string name) {
  if (name.starts_with("vgpu:")) name.erase(0, 5);
  const auto file = vgpu::timing::find_machine_file(name, vgpu::timing::own_machines_folder());
  if (!file) return report_error(file.error());
  const auto machine = vgpu::timing::machine_of(*file);
  if (!machine) return report_error(machine.error());
  std::fputs(machine_page(*file, *machine, report::Style::for_stream(1)).c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_machine(CLI::App& app, Action& chosen) {
  CLI::App* const machine = app.add_subcommand("machine", "");
  machine->require_subcommand(1);
  machine->add_subcommand("list", "")->callback([&chosen] { chosen = run_machine_list; });
  add_machine_calibrate(*machine, chosen);
  auto name = std::make_shared<std::string>();
  CLI::App* const show = machine->add_subcommand("show", "");
  show->add_option("NAME", *name)->required();
  show->callback([name, &chosen] { chosen = [name] { return run_machine_show(*name); }; });
}

}  // namespace membound::cli
