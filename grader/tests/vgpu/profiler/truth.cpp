// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/tests/vgpu/profiler/truth.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace membound::profiler {
namespace {

std::vector<std::string> split_row(const std::string& row) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : row) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> parts;
  std::istringstream text(line);
  for (std::string part; std::getline(text, part, separator);) parts.push_back(part);
  return parts;
}

/// "void <unnamed>::load<double>(T1 *, int)" and "void (anonymous namespace)::load<double>(…)" are
/// both called load.
std::string bare_name(std::string name) {
  if (name.starts_with("void ")) name = name.substr(5);
  for (const char* space : {"<unnamed>::", "(anonymous namespace)::"}) {
    if (name.starts_with(space)) name = name.substr(std::string(space).size());
  }
  return name.substr(0, name.find_first_of("<("));
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe))
    text.append(buffer, bytes);
  ::pclose(pipe);
  return text;
}

/// Runs a command on the virtual GPU; its launches, and what it printed.
std::vector<Launch> run(const std::string& command, std::string& output) {
  const std::filesystem::path counters =
      std::filesystem::temp_directory_path() /
      ("membound_profiler_" + std::to_string(::getpid()) + ".json");
  // The whole device, as the profiler saw it, not the slice that lab.json asks for.
  output = output_of("MEMBOUND_SMS=0 LD_LIBRARY_PATH=" MEMBOUND_VGPU_DIR
                     " MEMBOUND_DEVICE=vgpu:h200 MEMBOUND_COUNTERS=" +
                     counters.string() + " " + command + " 2>/dev/null");
  std::ifstream file(counters);
  const nlohmann::json all = nlohmann::json::parse(file, nullptr, false);
  file.close();
  std::filesystem::remove(counters);
  std::vector<Launch> launches;
  if (all.is_discarded()) return launches;
  for (const nlohmann::json& kernel : all.at("kernels")) {
    Launch launch;
    launch.kernel = launch.name = bare_name(kernel.at("display_name").get<std::string>());
    for (const auto& [name, value] : kernel.at("counters").items())
      launch.numbers[name] = value.get<double>();
    launches.push_back(std::move(launch));
  }
  return launches;
}

std::vector<std::vector<std::string>> read_table(const std::string& path, std::size_t columns) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    rows.push_back(split(line, '|'));
    rows.back().resize(columns);
  }
  return rows;
}

}  // namespace

Sections read_truth(const std::string& path) {
  Sections sections;
  std::vector<std::string> columns;
  std::vector<Launch>* section = nullptr;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) {
      section = &sections[line.substr(3)];
      columns.clear();
      continue;
    }
    if (line.empty() || line[0] == '#' || section == nullptr) continue;
    const std::vector<std::string> cells = split_row(line);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Launch launch;
    for (std::size_t i = 0; i < cells.size() && i < columns.size(); ++i) {
      if (columns[i] == "Kernel Name") launch.kernel = launch.name = bare_name(cells[i]);
      launch.numbers[columns[i]] = std::strtod(cells[i].c_str(), nullptr);
    }
    section->push_back(std::move(launch));
  }
  return sections;
}

std::vector<Launch> run_program(const std::string& program) {
  std::string output;
  std::vector<Launch> launches = run(MEMBOUND_PROFILER_DIR "/" + program, output);
  const std::vector<std::string> names = split(output, '\n');
  for (std::size_t i = 0; i < launches.size() && i < names.size(); ++i) launches[i].name = names[i];
  return launches;
}

std::vector<LabRun> read_labs(const std::string& path) {
  std::vector<LabRun> runs;
  for (const auto& row : read_table(path, 3)) runs.push_back({row[0], row[1], row[2]});
  return runs;
}

std::vector<Launch> run_lab(const LabRun& run_of, const std::string& answer) {
  const std::string built = MEMBOUND_LABS_DIR "/" + run_of.lab;
  const std::string submission = answer == "reference"
                                     ? built + "/reference.fatbin"
                                     : MEMBOUND_PROFILER_DIR "/" + run_of.lab + ".fatbin";
  std::string output;
  std::vector<Launch> launches =
      run(built + "/test --lab " MEMBOUND_SOURCE_DIR "/labs/" + run_of.lab +
              "/lab.json --submission " + submission + " --reference " + built +
              "/reference.fatbin --harness-kernels " MEMBOUND_HARNESS_KERNELS
              " --seed 1 --quick --gtest_filter='" +
              run_of.filter + "'",
          output);
  std::erase_if(launches,
                [&](const Launch& launch) { return !launch.kernel.starts_with(run_of.kernels); });
  return launches;
}

bool Deviation::covers(const std::string& in_section, const Launch& launch,
                       std::string_view counter) const {
  if (section != in_section || !launch.name.starts_with(name)) return false;
  for (const std::string& prefix : split(counters, ' '))
    if (counter.starts_with(prefix)) return true;
  return false;
}

std::vector<Deviation> read_deviations(const std::string& path) {
  std::vector<Deviation> deviations;
  for (const auto& row : read_table(path, 4))
    deviations.push_back({row[0], row[1], row[2], row[3]});
  return deviations;
}

}  // namespace membound::profiler
