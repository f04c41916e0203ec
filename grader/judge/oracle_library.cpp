// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/oracle_library.hpp"

#include <unistd.h>

#include <cstdlib>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

constexpr double kCompileSeconds = 120;
constexpr std::size_t kShownOutput = 4000;

/// The C++ compiler of this machine: what CXX names, else the usual ones.
fs::path host_compiler() {
  const char* const path = std::getenv("PATH");
  const char* const chosen = std::getenv("CXX");
  for (const std::string& name : {std::string(chosen == nullptr ? "" : chosen), std::string("c++"),
                                  std::string("g++"), std::string("clang++")}) {
    if (name.empty()) continue;
    if (name.find('/') != std::string::npos) return name;
    if (auto found = base::find_in_path(name, path == nullptr ? "" : path); !found.empty())
      return found;
  }
  return {};
}

/// What an oracle is compiled of.
struct Sources {
  fs::path oracle;        ///< the lab's oracle.cpp
  fs::path student;       ///< the folder of oracle.hpp
  std::string constants;  ///< the text of kernel_constants.hpp
};

base::Status compile_oracle(const Sources& from, const std::string& lab, const fs::path& file) {
  const fs::path compiler = host_compiler();
  if (compiler.empty())
    return base::Error{base::ErrorKind::kMachine, from.oracle.string(),
                       "there is no C++ compiler here to compile it with", "c++ in PATH, or CXX",
                       "apt-get install g++"};
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const base::ScratchFolder made("oracle");
  const auto put =
      base::write_file(made.path() / "labs" / lab / "kernel_constants.hpp", from.constants);
  if (!put) return put.error();
  // Several checks at once, of one process or of many, may be making it.
  const fs::path part =
      file.string() + "." + base::owner_mark() + "." + std::to_string(gettid()) + ".part";
  const auto run = base::run_process(
      {.arguments = {compiler.string(), "-std=c++20", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared",
                     "-ffp-contract=off", "-fsigned-char",  // as on x86-64 everywhere
                     "-I" + from.student.string(), "-I" + made.path().string(),
                     from.oracle.string(), "-o", part.string()},
       .timeout_seconds = kCompileSeconds});
  if (!run) return run.error();
  if (run->exit_code == 0) fs::rename(part, file, error);
  if (run->exit_code == 0 && !error) return base::Done{};
  if (run->exit_code == 0)
    return base::Error{base::ErrorKind::kMachine, file.string(),
                       "cannot be written: " + error.message(), "a folder to keep it in",
                       "check the rights of the folder and that the disk is not full"};
  // The compiler's first line names the place.
  return base::Error{base::ErrorKind::kInput, from.oracle.string(),
                     "does not compile:\n" + run->output.substr(0, kShownOutput),
                     "C++20 that includes \"oracle.hpp\"", "mend the first error that is named"};
}

/// Whether `made` is there and at least as new as each of `sources`.
bool is_up_to_date(const fs::path& made, std::initializer_list<fs::path> sources) {
  std::error_code error;
  const auto time = fs::last_write_time(made, error);
  if (error) return false;
  for (const fs::path& source : sources)
    if (const auto of_source = fs::last_write_time(source, error); !error && of_source > time)
      return false;
  return true;
}

}  // namespace

std::string kernel_constants(std::string_view contract) {
  // No std::regex, which ends the process where a table of some 10 kB stands in the contract.
  constexpr std::string_view kHead = "\ninline constexpr ";
  std::string made = "#pragma once\nnamespace membound::kernel_constants {";
  for (auto at = contract.find(kHead); at != contract.npos; at = contract.find(kHead, at)) {
    // A function has a bracket before its first '=', if it has one.
    const auto sign = contract.find_first_of("=(;{", at + kHead.size());
    const auto end = contract.find(';', sign);
    if (sign == contract.npos || end == contract.npos) break;
    if (contract[sign] == '=') made += contract.substr(at, end + 1 - at);
    at = contract[sign] == '=' ? end + 1 : sign;
  }
  std::erase(made, '\r');  // as CMake does with what Windows ends lines with
  return made + "\n}\n";
}

base::Result<fs::path> make_oracle(const Workplace& place, const course::Lab& lab) {
  if (!lab.has_oracle()) return fs::path();
  const fs::path source = lab.folder / course::kOracleSource;
  const fs::path contract = lab.folder / "kernel.cuh";
  const fs::path built = place.build / "labs" / lab.id / "oracle.so";
  if (lab.tree.empty() && is_up_to_date(built, {source, contract})) return built;
  const fs::path student = place.root / "grader" / "harness" / "student";
  const auto contract_text = base::read_file(contract);
  if (!contract_text) return contract_text.error();
  const Sources from{source, student, kernel_constants(*contract_text)};
  // What it is made of is its name: whatever changes makes another.
  base::Sha256 digest;
  for (const fs::path& file : {source, student / "oracle.hpp"}) {
    const auto text = base::read_file(file);
    if (!text) return text.error();
    digest.add(file.string() + '\0' + std::to_string(text->size()) + '\0');
    digest.add(*text);
  }
  digest.add(from.constants);
  constexpr std::size_t kDigits = 16;
  const std::string name = lab.id + "-" + digest.finish().substr(0, kDigits) + ".so";
  const fs::path made = place.state / "cache" / "oracles" / name;
  std::error_code ignored;
  if (fs::exists(made, ignored)) return made;
  if (auto compiled = compile_oracle(from, lab.id, made); !compiled) return compiled.error();
  return made;
}

}  // namespace membound::judge
