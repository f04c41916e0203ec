// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/workplace.hpp"

#include <sstream>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::judge {

namespace fs = std::filesystem;

fs::path built_reference(const Workplace& place, const std::string& lab,
                         compilers::DeviceCompiler compiler) {
  return place.build / "labs" / lab / ("reference" + std::string(compilers::code_ending(compiler)));
}

fs::path reference_source(const Workplace& place, const std::string& lab) {
  return place.root / "solutions" / lab / "kernel.cu";
}

fs::path test_program(const Workplace& place, const std::string& lab,
                      const course::StageKind& kind) {
  return place.build / "labs" / lab / kind.test_program;
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

/// Versions of the file, newest first.
std::vector<std::string> versions(const std::filesystem::path& root, const std::string& file) {
  std::vector<std::string> all;
  std::istringstream commits(
      git(root, {"log", "--format=%H", "-n", std::to_string(kMostVersions), "HEAD", "--", file}));
  for (std::string commit; std::getline(commits, commit);)
    all.push_back(git(root, {"show", commit + ":./" + file}));
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

base::Result<std::string> find_skeleton(const Workplace& place, const course::Lab& lab) {
  // A student's tree has a copy beside the compiled reference answer.
  if (auto released = base::read_file(place.root / "released" / lab.id / "skeleton.cu"))
    return *std::move(released);
  const auto solution = base::read_file(place.root / "solutions" / lab.id / "kernel.cu");
  const auto fits = [&](const std::string& text) {
    // Without the reference answers (a student's tree) a TODO must do.
    return solution ? is_skeleton_of(text, *solution) : text.find("TODO") != std::string::npos;
  };
  for (std::string& text : versions(place.root, "labs/" + lab.id + "/kernel.cu"))
    if (fits(text)) return std::move(text);
  auto copy = base::read_file(place.build / "share" / "labs" / lab.id / "kernel.cu");
  if (copy && fits(*copy)) return std::move(*copy);
  return base::Error{base::ErrorKind::kMachine, "labs/" + lab.id + "/kernel.cu",
                     "no untouched version of this file is left, in git or in the build folder",
                     "a version of the skeleton", "fetch the course anew into another folder"};
}

base::Status keep_skeleton(const Workplace& place, const course::Lab& lab) {
  auto skeleton = find_skeleton(place, lab);
  if (!skeleton) {
    // Neither git nor an earlier build knows it: the file itself, unless somebody worked on it.
    const auto solution = base::read_file(place.root / "solutions" / lab.id / "kernel.cu");
    auto text = base::read_file(lab.folder / "kernel.cu");
    if (!text || !solution || !is_skeleton_of(*text, *solution)) return skeleton.error();
    skeleton = std::move(*text);
  }
  const fs::path kept = place.build / "share" / "labs" / lab.id / "kernel.cu";
  const auto old = base::read_file(kept);
  if (old && *old == *skeleton) return base::Done{};
  std::error_code error;
  fs::create_directories(kept.parent_path(), error);
  return base::write_file(kept, *skeleton);
}

}  // namespace membound::judge
