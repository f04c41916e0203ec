// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/code_listing.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "grader/base/demangle.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/device_code/ptx/printer.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::cli {
namespace {

/// What a LAUNCH_SHAPE or LAUNCH_PLAN becomes (harness/device/launch_validator.hpp); few read it.
constexpr std::string_view kLaunchPrefix = "membound_launch_of_";
constexpr int kWidth = 100;  // of the source; instructions are as long as they are

/// What stands after an instruction where it is not executed like most.
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
                     base::counted(function.instructions.size(), "instruction") + "\n";
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
      base::add_word(names, name);
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

namespace {

constexpr std::uint32_t kArch = 90;  // of the cubin, where there is more than one
constexpr std::size_t kMargin = 6;   // digits before a line of the source
constexpr double kPatienceSeconds = 60;
constexpr std::size_t kMostOutput = 64 << 20;

/// A function as nvdisasm prints it.
struct Function {
  std::string name;                ///< readable
  std::vector<std::string> lines;  ///< of the listing
  std::size_t instructions = 0;
  std::size_t useful = 0;  ///< `lines` up to the last that is no filling
};

/// The text between `open` and `close` in `line`; empty where they are not there.
std::string_view between(std::string_view line, std::string_view open, std::string_view close) {
  const auto begin = line.find(open);
  if (begin == line.npos) return {};
  line.remove_prefix(begin + open.size());
  const auto end = line.find(close);
  return end == line.npos ? std::string_view() : line.substr(0, end);
}

/// A line "	//## File "kernel.cu", line 7": file and line above the instructions of it.
void add_place(std::string_view line, const report::SourceReader& read, Function& function) {
  const std::string file(between(line, "File \"", "\""));
  const auto at = line.find(", line ");
  const int number = at == line.npos ? 0 : std::atoi(std::string(line.substr(at + 7)).c_str());
  if (file.empty() || number == 0) return;
  std::string place = file + ":" + std::to_string(number) + "\n";
  // No column is known of it, so nothing is underlined.
  if (const report::SourceText text = read(file); static_cast<std::size_t>(number) <= text.size()) {
    const std::string margin = std::to_string(number);
    place += std::string(margin.size() < kMargin ? kMargin - margin.size() : 0, ' ') + margin +
             " | " + text[static_cast<std::size_t>(number) - 1] + "\n";
  }
  function.lines.push_back(std::move(place));
}

/// A line "        /*0010*/      LDG.E R2, [R2] ;".
void add_instruction(std::string_view line, Function& function) {
  const std::string offset(between(line, "/*", "*/"));
  std::string_view text = line.substr(line.find("*/") + 2);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.rfind(';'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  function.lines.push_back("   " + offset + "  " + std::string(text) + "\n");
  if (text == "NOP") return;
  function.useful = function.lines.size();
  ++function.instructions;
}

std::vector<Function> functions_of(std::string_view disassembly, const report::SourceReader& read) {
  static constexpr std::string_view kBegin = ".text.";
  std::vector<Function> all;
  for (std::size_t at = 0; at < disassembly.size();) {
    const auto end = std::min(disassembly.find('\n', at), disassembly.size());
    const std::string_view line = disassembly.substr(at, end - at);
    at = end + 1;
    if (line.starts_with(kBegin) && line.ends_with(':')) {
      const auto name = line.substr(kBegin.size(), line.size() - kBegin.size() - 1);
      all.push_back({base::demangled(std::string(name)), {}, 0, 0});
    } else if (all.empty()) {
      continue;
    } else if (line.find("//## File ") != line.npos) {
      add_place(line, read, all.back());
    } else if (line.starts_with(".L") && line.ends_with(':')) {
      all.back().lines.push_back(std::string(line) + "\n");
    } else if (!between(line, "/*", "*/").empty()) {
      add_instruction(line, all.back());
    }
  }
  return all;
}

}  // namespace

base::Result<std::string> disassembly_of(const std::string& path,
                                         const compilers::CompilerPlaces& places) {
  const auto bytes = base::read_file(path);
  if (!bytes) return bytes.error();
  const auto entries = fatbin::read(std::as_bytes(std::span(*bytes)), path);
  if (!entries) return entries.error();
  const fatbin::Entry* const nearest = fatbin::choose_cubin(*entries, kArch);
  if (nearest == nullptr)
    return base::Error{base::ErrorKind::kInput, path, "holds no machine code",
                       "code that nvcc compiled for sm_…", "membound ptx without --sass"};
  const auto program = compilers::find_toolkit_program("nvdisasm", places);
  if (program.empty())
    return base::Error{base::ErrorKind::kMachine, "nvdisasm", "not found on this machine",
                       "the disassembler of a CUDA toolkit (in $MEMBOUND_TOOLKIT/bin, PATH, "
                       "/usr/local/cuda/bin or .membound/toolkit)",
                       "install the toolkit's cuda-nvdisasm, or PyPI's nvidia-cuda-nvdisasm into "
                       "a folder of PATH"};
  const base::ScratchFolder folder("membound-sass");
  std::string all;
  for (const fatbin::Entry& cubin : *entries) {  // a program has one for each file that is in it
    if (cubin.kind != fatbin::EntryKind::kElf || cubin.arch != nearest->arch) continue;
    const auto file = folder.path() / "kernel.cubin";
    const std::string_view payload(reinterpret_cast<const char*>(cubin.payload.data()),
                                   cubin.payload.size());
    if (const auto written = base::write_file(file, payload); !written) return written.error();
    const auto run = base::run_process({.arguments = {program.string(), "-c", "-g", file.string()},
                                        .timeout_seconds = kPatienceSeconds,
                                        .output_limit_bytes = kMostOutput});
    if (!run) return run.error();
    if (run->exit_code != 0)
      return base::Error{base::ErrorKind::kMachine, program.string(), "failed: " + run->output,
                         "one that reads what this nvcc writes", "a newer nvdisasm"};
    all += run->output;
  }
  return all;
}

base::Result<std::string> list_machine_code(std::string_view disassembly, const std::string& filter,
                                            const report::SourceReader& read) {
  std::string text, names;
  for (const Function& function : functions_of(disassembly, read)) {
    base::add_word(names, function.name);
    if (!is_asked_for(function.name, filter)) continue;
    text += "kernel " + function.name + ": " + base::counted(function.instructions, "instruction") +
            " of the machine\n";
    for (std::size_t i = 0; i < function.useful; ++i) text += function.lines[i];
    text += "\n";
  }
  if (text.empty()) return no_such_function(filter, names);
  return text;
}

}  // namespace membound::cli
