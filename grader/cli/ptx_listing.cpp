// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/ptx_listing.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include "grader/base/function_name.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/device_code/ptx/printer.hpp"
#include "grader/report/source_excerpt.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::cli {
namespace {

/// What a LAUNCH_SHAPE or LAUNCH_PLAN becomes (harness/cases/launch_plan.hpp); few want to read it.
constexpr std::string_view kLaunchPrefix = "membound_launch_of_";
constexpr int kWidth = 100;  // of the source; instructions are as long as they are

/// What stands behind an instruction where it is not executed like most.
std::string remark(const ptx::Instruction& instruction) {
  const vgpu::program::OpcodeInfo* const info = vgpu::program::find_opcode(instruction.opcode);
  if (info == nullptr || info->shape == vgpu::program::Shape::kUnsupported)
    return "  // refused when it is reached";
  return info->shape == vgpu::program::Shape::kIgnored ? "  // no effect here" : "";
}

std::string list_function(const ptx::Module& module, const ptx::Function& function,
                          const report::SourceReader& read) {
  std::map<std::uint32_t, std::string_view> files;
  for (const ptx::File& file : module.files) files[file.index] = file.name;
  std::map<std::size_t, std::string> labels;
  for (const ptx::Label& label : function.labels)
    labels[label.instruction] += std::string(label.name) + ":\n";
  std::string text = (function.is_entry ? "kernel " : "function ") +
                     base::demangled(std::string(function.name)) + ": " +
                     std::to_string(function.instructions.size()) + " instructions\n";
  std::pair<std::uint32_t, std::uint32_t> place{0, 0};
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const ptx::Instruction& instruction = function.instructions[i];
    if (instruction.location < function.locations.size()) {
      const ptx::SourceLocation& location = function.locations[instruction.location];
      if (const std::pair here{location.file, location.line}; here != place && here.second != 0) {
        place = here;
        const std::string file(files[here.first]);
        text += file + ":" + std::to_string(here.second) + "\n" +
                report::source_excerpt(read(file), static_cast<int>(location.line),
                                       static_cast<int>(location.column), kWidth);
      }
    }
    if (const auto label = labels.find(i); label != labels.end()) text += label->second;
    char number[16];
    std::snprintf(number, sizeof number, "%7u  ", instruction.position.line);
    text += number + ptx::to_text(instruction, function) + remark(instruction) + "\n";
  }
  return text + "\n";
}

base::Error input_error(const std::string& where, std::string found, std::string expected) {
  return {base::ErrorKind::kInput, where, std::move(found), std::move(expected), ""};
}

}  // namespace

base::Result<std::string> list_code(const std::string& path, const std::string& filter,
                                    const report::SourceReader& read) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return input_error(path, "this file cannot be read", "a program, fatbin or PTX file");
  const auto entries = fatbin::read(std::as_bytes(std::span(bytes)), path);
  if (!entries) return entries.error();
  std::string text;
  std::string names;
  bool has_ptx = false;
  for (const fatbin::Entry& entry : *entries) {
    if (entry.kind != fatbin::EntryKind::kPtx) continue;
    has_ptx = true;
    const auto module = ptx::parse(entry.text(), entry.name.empty() ? path : entry.name);
    if (!module) return module.error();
    for (const ptx::Function& function : module->functions) {
      if (!function.has_body) continue;
      const std::string name = base::demangled(std::string(function.name));
      names += (names.empty() ? "" : ", ") + name;
      if (is_asked_for(name, filter)) text += list_function(*module, function, read);
    }
  }
  if (!has_ptx)
    return input_error(path, "holds no PTX", "code compiled for compute_…, not sm_… only");
  if (text.empty()) return no_such_function(filter, names);
  return text;
}

bool is_asked_for(const std::string& name, const std::string& filter) {
  return name.find(filter) != std::string::npos &&
         (!name.starts_with(kLaunchPrefix) || filter.starts_with(kLaunchPrefix.substr(0, 8)));
}

base::Error no_such_function(const std::string& filter, const std::string& names) {
  return input_error("--kernel " + filter, "no function has this in its name", names);
}

}  // namespace membound::cli
