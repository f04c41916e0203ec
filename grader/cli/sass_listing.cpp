// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/sass_listing.hpp"

#include <cstdlib>
#include <span>
#include <vector>

#include "grader/base/function_name.hpp"
#include "grader/base/process.hpp"
#include "grader/base/scratch_folder.hpp"
#include "grader/base/text_files.hpp"
#include "grader/cli/ptx_listing.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"

namespace membound::cli {
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
    names += (names.empty() ? "" : ", ") + function.name;
    if (!is_asked_for(function.name, filter)) continue;
    text += "kernel " + function.name + ": " + std::to_string(function.instructions) +
            " instructions of the machine\n";
    for (std::size_t i = 0; i < function.useful; ++i) text += function.lines[i];
    text += "\n";
  }
  if (text.empty()) return no_such_function(filter, names);
  return text;
}

}  // namespace membound::cli
