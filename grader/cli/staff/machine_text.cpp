// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/machine_text.hpp"

#include <algorithm>
#include <cstdio>

#include "grader/course/gpu_generation.hpp"
#include "grader/report/text.hpp"
#include "grader/report/text_table.hpp"

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

}  // namespace

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

}  // namespace membound::cli
