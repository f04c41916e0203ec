// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/compilers/compiler.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"

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
  // Toolkits that lie side by side, "cuda-12.4" beside "cuda", newest first.
  std::vector<fs::path> beside;
  std::error_code error;
  for (fs::directory_iterator entry(places.system.parent_path(), error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(places.system.filename().string() + "-"))
      beside.push_back(entry->path());
  std::sort(beside.rbegin(), beside.rend());
  for (const fs::path& toolkit : beside) add(toolkit / "bin" / name);
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

/// What an nvcc that is there lacks for `target`, "makes no code for compute capability 7.0";
/// empty: nothing.
std::string lacks(const fs::path& nvcc, const std::string& version, const CodeTarget& target) {
  if (target.capability == 0) return "";
  const auto as_text = [](int tens) {
    return std::to_string(tens / 10) + "." + std::to_string(tens % 10);
  };
  // Machine code needs a driver of its own major version, or a newer one.
  if (std::atoi(version.c_str()) > target.driver_cuda / 1000)
    return "makes code for drivers of CUDA " + std::to_string(std::atoi(version.c_str())) +
           ", and this one is for CUDA " +
           as_text(target.driver_cuda / 1000 * 10 + target.driver_cuda % 1000 / 10);
  const auto known = base::run_process(
      {.arguments = {nvcc.string(), "--list-gpu-code"}, .timeout_seconds = kVersionSeconds});
  const std::string wanted = "sm_" + std::to_string(target.capability) + "\n";
  if (known && ("\n" + known->output + "\n").find("\n" + wanted) != std::string::npos) return "";
  return "makes no code for compute capability " + as_text(target.capability);
}

/// What decides whether an nvcc works here: itself, the host compiler that it would call, and what
/// chooses another. One line.
std::string traits_of(const fs::path& nvcc, const std::string& path) {
  std::string traits;
  for (const fs::path& file :
       {nvcc, base::find_in_path("gcc", path), base::find_in_path("g++", path)}) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    traits += file.string() + " " +
              (error ? "none" : std::to_string(time.time_since_epoch().count())) + " ";
  }
  for (const char* name : {"NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char* value = std::getenv(name); value != nullptr) traits += value + std::string(" ");
  return traits;
}

/// Why an nvcc that is there compiles nothing here, "needs g++, which …"; empty: it does. nvcc
/// gives every source to a host compiler first, and refuses one that is newer than itself. That it
/// works is remembered below the course's .membound, because to try takes a third of a second.
std::string cannot_work(const fs::path& nvcc, const CompilerPlaces& places) {
  const fs::path remembered =
      places.root.empty() ? fs::path() : places.root / ".membound/nvcc_works";
  const std::string traits = traits_of(nvcc, places.path);
  if (!remembered.empty()) {
    const auto known = base::read_file(remembered);
    if (known && *known == traits) return "";
  }
  base::ProcessRequest trial{.arguments = {nvcc.string(), "-M", "-x", "cu", "/dev/null"},
                             .timeout_seconds = kVersionSeconds};
  if (!places.path.empty()) trial.environment["PATH"] = places.path;
  const auto answer = base::run_process(trial);
  if (!answer) return "cannot be started: " + answer.error().found;
  if (answer->exit_code == 0) {
    // A folder that cannot be written costs a third of a second at the next call.
    if (std::error_code error; fs::exists(remembered.parent_path(), error))
      (void)base::write_file(remembered, traits);
    return "";
  }
  static const std::regex kTooNew("gcc versions later than ([0-9]+) are not supported");
  if (std::smatch match; std::regex_search(answer->output, match, kTooNew))
    return "takes no g++ newer than " + match[1].str() + ", and the one that is here is newer";
  if (answer->output.find("host compiler") != std::string::npos)
    return "needs g++, which is not here";
  const std::string first = answer->output.substr(0, answer->output.find('\n'));
  return "compiles nothing here" + (first.empty() ? "" : ": " + first);
}

base::Error none_found(DeviceCompiler kind, const CompilerPlaces& places,
                       const std::string& passed_over) {
  base::Error error;
  error.kind = base::ErrorKind::kMachine;
  error.where = std::string(to_string(kind));
  error.found = passed_over.empty() ? "not found on this machine" : "not usable: " + passed_over;
  if (kind == DeviceCompiler::kNvcc) {
    error.expected =
        "the CUDA compiler, version 12 or newer (in $MEMBOUND_TOOLKIT/bin, PATH, "
        "/usr/local/cuda/bin or .membound/toolkit)";
    // What pip has installed has no launcher that fetches a toolkit.
    std::error_code ignored;
    error.advice =
        places.root.empty() || fs::exists(places.root / "grader/launcher/install.sh", ignored)
            ? "call ./membound with --compiler nvcc, which fetches it, or set MEMBOUND_TOOLKIT"
            : "install a CUDA toolkit, set MEMBOUND_TOOLKIT to its folder; or use clang";
    if (passed_over.find("g++") != std::string::npos)
      error.advice =
          "install a g++ that it takes (sudo apt-get install g++), or use --compiler clang";
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

bool uses_earlier_launches(std::string_view source_text) {
  static const std::regex kNamed("\\bGpu\\b|\\bKERNEL\\b");
  // std::regex recurses over what it matches: no run of spaces is followed to its end.
  static const std::regex kEarlier(
      "\\bbefore_this_block\\b|\\.then\\s{0,99}\\(\\s{0,99}\"|\\bgpu\\s{0,99}\\.");
  const std::string text(source_text);
  return std::regex_search(text, kEarlier) && !std::regex_search(text, kNamed);
}

std::vector<std::string> command_of(const CompilerRun& run) {
  std::vector<std::string> all;
  if (run.kind == DeviceCompiler::kNvcc) {
    // nvcc.flags leaves out of <cmath> std::riemann_zeta and its like, which no kernel can call,
    // and keeps what came with them: a quarter of what compiling a kernel takes.
    all = {run.program, "--options-file",
           run.student / (run.runtime.empty() ? "nvcc.flags" : "nvcc-program.flags"),
           "-arch=sm_" + run.architecture};
  } else if (run.runtime.empty()) {
    all = {"/bin/sh", run.student / "clang" / "compile.sh"};
    if (run.red_zones) all.emplace_back("--red-zones");
    if (const int wanted = std::atoi(run.architecture.c_str());
        wanted > 0 && wanted < kClangArchitecture)
      all.insert(all.end(), {"--card", run.architecture});
    all.insert(all.end(), {run.output, run.program});
  } else {
    all = {"/bin/sh", run.student / "clang" / "compile_program.sh"};
    if (run.library) all.emplace_back("--library");
    // The runtime's declarations are named from the folder that holds grader/.
    const fs::path root = (run.student / "../../..").lexically_normal();
    all.insert(all.end(), {run.output, run.runtime, run.program, "-I" + root.string()});
  }
  if (run.earlier_launches) all.emplace_back("-DMEMBOUND_EARLIER_LAUNCHES");
  all.insert(all.end(), {"-I" + run.student.string(), "-I" + run.lab.string(), run.source});
  if (run.kind != DeviceCompiler::kNvcc) return all;
  if (!run.runtime.empty()) all.insert(all.end(), {"-L" + run.runtime.string(), "-lcudart"});
  if (run.library) all.insert(all.end(), {"-shared", "-Xcompiler", "-fPIC"});
  all.insert(all.end(), {"-o", run.output});
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

base::Result<CompilerInfo> find_compiler(DeviceCompiler kind, const CompilerPlaces& places,
                                         const CodeTarget& target) {
  std::string passed_over;
  for (const fs::path& program : candidates(kind, places)) {
    const auto answer = base::run_process(
        {.arguments = {program.string(), "--version"}, .timeout_seconds = kVersionSeconds});
    if (!answer) continue;
    const std::string version = version_in(kind, answer->output);
    const bool is_new = answer->exit_code == 0 && std::atoi(version.c_str()) >= oldest(kind);
    std::string problem = is_new ? "" : version.empty() ? "does not say its version" : "is too old";
    if (problem.empty() && kind == DeviceCompiler::kNvcc) {
      problem = lacks(program, version, target);
      if (problem.empty()) problem = cannot_work(program, places);
    }
    if (problem.empty()) return CompilerInfo{kind, behind_script(program), version};
    // One that lies there under several names is told once.
    const std::string told =
        std::string(to_string(kind)) + (version.empty() ? "" : " ") + version + " " + problem;
    if (passed_over.find(told) == std::string::npos) base::add_word(passed_over, told);
  }
  return none_found(kind, places, passed_over);
}

base::Result<CompilerInfo> find_any_compiler(const CompilerPlaces& places,
                                             const CodeTarget& target) {
  auto nvcc = find_compiler(DeviceCompiler::kNvcc, places, target);
  if (nvcc) return nvcc;
  auto clang = find_compiler(DeviceCompiler::kClang, places, target);
  constexpr std::string_view kThere = "not usable: ";
  if (clang && nvcc.error().found.starts_with(kThere))
    clang->passed_over = nvcc.error().found.substr(kThere.size());
  if (clang) return clang;
  return base::Error{base::ErrorKind::kMachine, "a compiler for kernels",
                     "nvcc: " + nvcc.error().found + "; clang++: " + clang.error().found,
                     clang.error().expected + ", or nvcc of CUDA 12 or newer",
                     "sudo apt-get install clang, or ask whoever runs this machine to"};
}

}  // namespace membound::compilers
