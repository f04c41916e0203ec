// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/workplace.hpp"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::judge {

namespace fs = std::filesystem;

fs::path built_reference(const Workplace& place, const course::Lab& lab,
                         compilers::DeviceCompiler compiler) {
  // A lab of another tree was not there when this one was built.
  const fs::path built = lab.tree.empty() ? place.build : place.state / "none";
  return built / "labs" / lab.id / ("reference" + std::string(compilers::code_ending(compiler)));
}

bool has_references(const Workplace& place, compilers::DeviceCompiler compiler) {
  std::error_code ignored;
  if (fs::exists(place.root / "solutions", ignored)) return true;
  const std::string_view ending = compilers::code_ending(compiler);
  for (const fs::path& labs : {place.build / "labs", place.root / "released"})
    for (const auto& lab : fs::directory_iterator(labs, ignored))
      for (const auto& file : fs::directory_iterator(lab.path(), ignored))
        if (const std::string name = file.path().filename();
            name.starts_with("reference") && name.ends_with(ending))
          return true;
  return false;
}

fs::path lab_files(const Workplace& place, const course::Lab& lab) {
  fs::path own = place.root / course::kOwnCopies / "labs" / lab.id;
  std::error_code ignored;
  return fs::exists(own, ignored) ? own : lab.folder;
}

fs::path reference_source(const Workplace& place, const course::Lab& lab) {
  return place.tree(lab) / "solutions" / lab.id / "kernel.cu";
}

fs::path test_program(const Workplace& place, const course::Lab& lab,
                      const course::StageKind& kind) {
  // One for all labs that have an oracle, which it loads.
  if (lab.has_oracle()) return place.build / "bin" / ("oracle_" + std::string(kind.test_program));
  return place.build / "labs" / lab.id / kind.test_program;
}

fs::path harness_kernels(const Workplace& place) {
  const fs::path stem = place.build / "grader" / "harness" / "harness";
  std::error_code ignored;
  for (const compilers::DeviceCompiler compiler :
       {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang})
    if (fs::path file = stem.string() + std::string(compilers::code_ending(compiler));
        fs::exists(file, ignored))
      return file;
  return stem;
}

base::Error not_built(const fs::path& file) {
  return {base::ErrorKind::kMachine, file.string(), "is not built",
          "the lab's test program and reference answer, made by the build",
          "start with ./membound, which builds what is missing"};
}

namespace {

constexpr int kMostVersions = 50;

/// Lines of code: without comments of a whole line, and without empty ones.
std::vector<std::string> code_lines(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const auto start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos || line.compare(start, 2, "//") == 0) continue;
    lines.push_back(line.substr(start));
  }
  return lines;
}

/// What git prints, or nothing when there is no git, no repository or no such version.
std::string git(const std::filesystem::path& root, std::vector<std::string> words) {
  words.insert(words.begin(), {"git", "-C", root.string()});
  const auto answer = base::run_process({.arguments = std::move(words),
                                         .environment = {{"GIT_PAGER", "cat"}},
                                         .timeout_seconds = 20});
  return answer && answer->exit_code == 0 ? answer->output : "";
}

/// Versions of the lab's files as one text, newest first.
std::vector<std::string> versions(const std::filesystem::path& root, const course::Lab& lab) {
  std::vector<std::string> all,
      log = {"log", "--format=%H", "-n", std::to_string(kMostVersions), "HEAD", "--"};
  const auto path = [&lab](const std::string& file) { return "labs/" + lab.id + "/" + file; };
  for (const std::string& file : lab.files) log.push_back(path(file));
  std::istringstream commits(git(root, log));
  for (std::string commit; std::getline(commits, commit);) {
    std::map<std::string, std::string> beside;
    for (const std::string& file : lab.files_beside())
      beside[file] = git(root, {"show", commit + ":./" + path(file)});
    all.push_back(course::joined_submission(
        git(root, {"show", commit + ":./" + path(std::string(course::kKernelFile))}), beside));
  }
  return all;
}

}  // namespace

bool is_skeleton_of(std::string_view text, std::string_view solution) {
  if (text.find("TODO") == std::string_view::npos) return false;
  const auto lines = code_lines(text);
  const auto wanted = code_lines(solution);
  std::size_t next = 0;
  for (const std::string& line : wanted)
    if (next < lines.size() && line == lines[next]) ++next;
  return next == lines.size();
}

namespace {

/// Whether `text` is the lab's skeleton. One that is to be mended is known by its digest alone.
bool is_skeleton(const Workplace& place, const course::Lab& lab, std::string_view text) {
  if (lab.mended) return base::sha256(text) == lab.mended->sha256;
  const std::string kernel = course::split_submission(text).kernel;
  const auto solution = base::read_file(reference_source(place, lab));
  // Without the reference answers (a student's tree) a TODO must do.
  return solution ? is_skeleton_of(kernel, *solution) : kernel.find("TODO") != std::string::npos;
}

/// The copy beside the compiled reference answer, which a tree that was handed out has.
base::Result<std::string> released_skeleton(const Workplace& place, const course::Lab& lab) {
  return course::read_submission(place.tree(lab) / "released" / lab.id / "skeleton.cu", lab);
}

base::Result<std::string> built_skeleton(const Workplace& place, const course::Lab& lab) {
  return base::read_file(place.build / "share" / "labs" / lab.id / "kernel.cu");
}

}  // namespace

std::optional<std::string> skeleton_at_hand(const Workplace& place, const course::Lab& lab) {
  auto text = released_skeleton(place, lab);
  if (!text) text = built_skeleton(place, lab);
  if (!text) return std::nullopt;
  return course::split_submission(*text).kernel;
}

base::Result<std::string> find_skeleton(const Workplace& place, const course::Lab& lab) {
  if (auto released = released_skeleton(place, lab)) return *std::move(released);
  for (std::string& text : versions(place.tree(lab), lab))
    if (is_skeleton(place, lab, text)) return std::move(text);
  auto copy = built_skeleton(place, lab);
  if (copy && is_skeleton(place, lab, *copy)) return std::move(*copy);
  // Of a lab that no build has seen: the file itself, unless somebody worked on it.
  auto text = course::read_submission(lab.folder / "kernel.cu", lab);
  const auto solution = base::read_file(reference_source(place, lab));
  if (!lab.tree.empty() && text && solution && is_skeleton(place, lab, *text))
    return std::move(*text);
  return base::Error{base::ErrorKind::kMachine, "labs/" + lab.id + "/kernel.cu",
                     "no untouched version of this file is left, in git or in the build folder",
                     "a version of the skeleton", "fetch the course anew into another folder"};
}

base::Status keep_skeleton(const Workplace& place, const course::Lab& lab) {
  auto skeleton = find_skeleton(place, lab);
  if (!skeleton) {
    // Neither git nor an earlier build knows it: the file itself, unless somebody worked on it.
    const auto solution = base::read_file(reference_source(place, lab));
    auto text = course::read_submission(lab.folder / "kernel.cu", lab);
    if (!text || !solution || !is_skeleton(place, lab, *text)) return skeleton.error();
    skeleton = std::move(*text);
  }
  const fs::path kept = place.build / "share" / "labs" / lab.id / "kernel.cu";
  const auto old = base::read_file(kept);
  if (old && *old == *skeleton) return base::Done{};
  std::error_code error;
  fs::create_directories(kept.parent_path(), error);
  return base::write_file(kept, *skeleton);
}

namespace {

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
