// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound machine list, machine show NAME: the GPUs that the virtual one can imitate.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/cli/action.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/staff/machine_text.hpp"

namespace membound::cli {
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
