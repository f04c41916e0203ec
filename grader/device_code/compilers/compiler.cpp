// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/compilers/compiler.hpp"

#include <cctype>
#include <cstdlib>
#include <fstream>

#include "grader/base/process.hpp"

namespace membound::compilers {
namespace {

namespace fs = std::filesystem;

constexpr double kVersionSeconds = 20;

/// The harness loads kernels with cudaLibraryLoadFromFile, which CUDA 12 brought; clang 14 is the
/// oldest one the student header was compiled with.
int oldest(DeviceCompiler kind) { return kind == DeviceCompiler::kNvcc ? 12 : 14; }

/// Every place of a toolkit that has a program of this name.
std::vector<fs::path> in_toolkits(const std::string& name, const CompilerPlaces& places) {
  std::vector<fs::path> all;
  const auto add = [&](const fs::path& program) {
    std::error_code ignored;
    if (!program.empty() && fs::exists(program, ignored)) all.push_back(program);
  };
  if (!places.toolkit.empty()) add(places.toolkit / "bin" / name);
  add(base::find_in_path(name, places.path));
  add(places.system / "bin" / name);
  if (!places.root.empty()) add(places.root / ".membound/toolkit/nvidia/cu13/bin" / name);
  return all;
}

std::vector<fs::path> candidates(DeviceCompiler kind, const CompilerPlaces& places) {
  if (kind == DeviceCompiler::kNvcc) return in_toolkits("nvcc", places);
  std::vector<fs::path> all;
  const auto add = [&](const std::string& name) {
    if (const fs::path program = base::find_in_path(name, places.path); !program.empty())
      all.push_back(program);
  };
  add("clang++");
  for (int version = 20; version >= oldest(kind); --version)
    add("clang++-" + std::to_string(version));
  return all;
}

bool is_script(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

/// The compiler that a script in PATH starts, or `program` where that can't be told. The jail shows
/// a compiler only its own toolkit, in which such a script leads nowhere.
fs::path behind_script(const fs::path& program) {
  if (!is_script(program)) return program;
  const auto answer =
      base::run_process({.arguments = {program.string(), "--dryrun", "-c", "kernel.cu"},
                         .timeout_seconds = kVersionSeconds});
  if (!answer) return program;
  const fs::path folder = folder_in_dry_run(answer->output);
  std::error_code ignored;
  return !folder.empty() && fs::exists(folder / "nvcc", ignored) ? folder / "nvcc" : program;
}

base::Error none_found(DeviceCompiler kind, const std::string& passed_over) {
  base::Error error;
  error.kind = base::ErrorKind::kMachine;
  error.where = std::string(to_string(kind));
  error.found = passed_over.empty() ? "not found on this machine" : "too old: " + passed_over;
  if (kind == DeviceCompiler::kNvcc) {
    error.expected =
        "the CUDA compiler, version 12 or newer (in $MEMBOUND_TOOLKIT/bin, PATH, "
        "/usr/local/cuda/bin or .membound/toolkit)";
    error.advice =
        "call ./membound with --compiler nvcc, which fetches it, or set MEMBOUND_TOOLKIT";
  } else {
    error.expected = "clang++ 14 or newer in PATH";
    error.advice = "sudo apt-get install clang, or use --compiler nvcc";
  }
  return error;
}

}  // namespace

std::string_view to_string(DeviceCompiler compiler) {
  return compiler == DeviceCompiler::kNvcc ? "nvcc" : "clang";
}

std::string_view code_ending(DeviceCompiler compiler) {
  return compiler == DeviceCompiler::kNvcc ? ".fatbin" : ".ptx";
}

std::string CompilerInfo::name() const { return std::string(to_string(kind)) + " " + version; }

CompilerPlaces compiler_places(const fs::path& root) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  CompilerPlaces places;
  places.toolkit = variable("MEMBOUND_TOOLKIT");
  places.path = variable("PATH");
  places.root = root;
  return places;
}

fs::path find_toolkit_program(const std::string& name, const CompilerPlaces& places) {
  const auto all = in_toolkits(name, places);
  return all.empty() ? fs::path() : all.front();
}

std::vector<std::string> command_of(const CompilerRun& run) {
  std::vector<std::string> all;
  if (run.kind == DeviceCompiler::kNvcc) {
    // nvcc.flags leaves out of <cmath> std::riemann_zeta and its like, which no kernel can call,
    // and keeps what came with them: a quarter of what compiling a kernel takes.
    all = {run.program, "--options-file",
           run.student / (run.runtime.empty() ? "nvcc.flags" : "nvcc-program.flags"),
           "-arch=sm_" + run.architecture};
  } else {
    all = {"/bin/sh", run.student / "clang" / "compile.sh"};
    if (run.red_zones) all.emplace_back("--red-zones");
    all.insert(all.end(), {run.output, run.program});
  }
  all.insert(all.end(), {"-I" + run.student.string(), "-I" + run.lab.string(), run.source});
  if (!run.runtime.empty()) all.insert(all.end(), {"-L" + run.runtime.string(), "-lcudart"});
  if (run.library) all.insert(all.end(), {"-shared", "-Xcompiler", "-fPIC"});
  if (run.kind == DeviceCompiler::kNvcc) all.insert(all.end(), {"-o", run.output});
  return all;
}

std::string version_in(DeviceCompiler kind, std::string_view text) {
  // nvcc: "… release 13.0, V13.0.88"; clang: "Debian clang version 14.0.6".
  const std::string_view mark = kind == DeviceCompiler::kNvcc ? ", V" : "clang version ";
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + mark.size());
  std::string version;
  for (const char letter : text) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0 && letter != '.') break;
    version += letter;
  }
  return version;
}

std::string folder_in_dry_run(std::string_view text) {
  static constexpr std::string_view kMark = "_HERE_=";
  const auto at = text.find(kMark);
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + kMark.size());
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

base::Result<CompilerInfo> find_compiler(DeviceCompiler kind, const CompilerPlaces& places) {
  std::string passed_over;
  for (const fs::path& program : candidates(kind, places)) {
    const auto answer = base::run_process(
        {.arguments = {program.string(), "--version"}, .timeout_seconds = kVersionSeconds});
    if (!answer) continue;
    const std::string version = version_in(kind, answer->output);
    if (answer->exit_code == 0 && std::atoi(version.c_str()) >= oldest(kind))
      return CompilerInfo{kind, behind_script(program), version};
    passed_over += (passed_over.empty() ? "" : ", ") + program.string() + " " + version;
  }
  return none_found(kind, passed_over);
}

base::Result<CompilerInfo> find_any_compiler(const CompilerPlaces& places) {
  auto nvcc = find_compiler(DeviceCompiler::kNvcc, places);
  if (nvcc) return nvcc;
  auto clang = find_compiler(DeviceCompiler::kClang, places);
  return clang ? clang : nvcc;
}

namespace {

/// Words of a message (nvcc's or clang's), and what they usually mean. First match wins.
struct Entry {
  std::string_view words;
  std::string_view hint;
};

constexpr Entry kEntries[] = {
    {"uses too much shared data",
     "Arrays declared __shared__ with a fixed size may take 48 KiB per block in all. For more, use "
     "one extern __shared__ array and name its bytes in the launch shape."},
    {"too much global constant data",
     "__constant__ variables may take 64 KiB in all. What is larger is a __device__ variable, or "
     "an argument."},
    {"calling a __host__ function",
     "A kernel can only call __device__ functions. Functions of the C++ library are mostly for the "
     "CPU; the maths functions (min, max, fminf, …) are there without std::."},
    {"reference to __host__ function",
     "A kernel can only call __device__ functions. Functions of the C++ library are mostly for the "
     "CPU; the maths functions (min, max, fminf, …) are there without std::."},
    {"not found in 'std'", "Include what you use, and remember that most of std:: is for the CPU."},
    {"could not open source file",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"No such file or directory",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"file not found",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"expected a \";\"",
     "The ';' is missing at the end of the line before the one that is named, as a rule."},
    {"expected ';'", "The ';' is missing at the end of the line before, as a rule."},
    {"expected a \")\"", "Count the brackets of the line that is named, and of the one above it."},
    {"expected a \"}\"", "A '{' was never closed; see where the indentation stops to fit."},
    {"expected a declaration", "There is one '}' too many further up, as a rule."},
    {"no instance of function template",
     "The arguments do not have the types that the function "
     "takes: compare them one by one with its declaration."},
    {"expression must be a modifiable lvalue",
     "This cannot be assigned to: `const` pointers and parameters are for reading only."},
    {"expression must have a constant value",
     "The extents of a __shared__ array must be known when compiling: use the constants of "
     "kernel.cuh, or extern __shared__ with the bytes in the launch shape."},
    {"too many initializer values",
     "A launch shape is {grid, block, shared_bytes}; grid and block are {x, y, z}."},
    {"is undefined",
     "A name the compiler does not know: look for a typing error, and for a variable that is "
     "declared in another block or another stage. kernel.cuh lists what is given."},
    {"undeclared identifier",
     "A name the compiler does not know: look for a typing error, and for a variable that is "
     "declared in another block or another stage. kernel.cuh lists what is given."},
    {"has already been defined",
     "Two functions have one name and the same parameters. Was a part of the file pasted twice?"},
    {"redefinition of",
     "Two functions have one name and the same parameters. Was a part of the file pasted twice?"},
    {"extended character",
     "A character that no program has, such as the quotation mark, dash or space of a word "
     "processor: type it anew in the editor."},
    {"non-ASCII characters are not allowed",
     "A character that no program has, such as the quotation mark, dash or space of a word "
     "processor: type it anew in the editor."},
    {"invalid multibyte character",
     "A text between quotation marks is not UTF-8. Save the file with the encoding UTF-8."},
    {"illegal character encoding",
     "A text between quotation marks is not UTF-8. Save the file with the encoding UTF-8."},
    {"Ptx assembly aborted",
     "The mistake is in PTX written by hand, between the quotation marks of asm(…), which the "
     "compiler passes on as it stands; the line that is named is one of the PTX."},
    {"Unresolved extern",
     "A function is declared but its body is nowhere in kernel.cu: everything a kernel calls must "
     "be in the same file."},
};

constexpr std::string_view kGeneral =
    "Begin with the first error: those after it are often its consequences.";

}  // namespace

std::string compile_hint(std::string_view output) {
  // The earliest error counts, not the earliest entry.
  std::size_t first = std::string_view::npos;
  std::string_view hint = kGeneral;
  for (const Entry& entry : kEntries) {
    const std::size_t at = output.find(entry.words);
    if (at < first) {
      first = at;
      hint = entry.hint;
    }
  }
  return std::string(hint);
}

}  // namespace membound::compilers
