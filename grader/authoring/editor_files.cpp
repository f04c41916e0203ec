// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/editor_files.hpp"

#include <algorithm>
#include <sstream>

#include "grader/base/text_files.hpp"

namespace membound::authoring {
namespace {

constexpr const char* kFlags = "grader/harness/student/clang.flags";
constexpr const char* kNeeds = "grader/launcher/needs.sh";
constexpr const char* kLicense =
    "# SPDX-FileCopyrightText: The Membound authors\n# SPDX-License-Identifier: Apache-2.0\n#\n";
constexpr const char* kWritten = "# Written by `membound dev check --fix` from ";

/// Labs that have a stage with host code: "12-streams".
std::vector<std::string> labs_with_programs(const course::Course& course) {
  std::vector<std::string> ids;
  for (const course::Lab& lab : course.labs)
    if (std::ranges::any_of(lab.stages, [](const auto& s) { return !s.kind->every_compiler; }))
      ids.push_back(lab.id);
  return ids;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string clangd_text(const std::string& flags, const course::Course& course) {
  std::vector<std::string> all = reading_flags(flags);
  // clangd reads a kernel in its own folder.
  all.insert(all.end(), {"-I../../grader/harness/student/clang", "-I../../grader/harness/student"});
  std::string text =
      std::string(kLicense) +
      "# How clangd, behind VS Code, Neovim, Emacs and others, reads the labs' "
      "kernels: as our clang does, which\n# needs no CUDA toolkit.\n" +
      kWritten + kFlags +
      ".\nIf:\n  PathMatch: labs/.*/kernel\\.cuh?\nCompileFlags:\n"
      "  CompilationDatabase: None\n  Add: [" +
      joined(all, ", ") +
      "]\nDiagnostics:\n  ClangTidy: {Remove: '*'}  # what .clang-tidy asks of the grader\n";
  const std::vector<std::string> programs = labs_with_programs(course);
  if (!programs.empty())
    text += "---\n# Whole programs, which call the runtime.\nIf:\n  PathMatch: labs/(" +
            joined(programs, "|") +
            ")/kernel\\.cuh?\nCompileFlags:\n  Add: [-DMEMBOUND_PROGRAM, -I../.., -include, "
            "cuda_program_for_clang.cuh]\n";
  return text;
}

std::string dockerfile_text(const std::string& needs) {
  std::vector<std::string> packages = listed_packages(needs);
  // For kernels without a toolkit, for editors, and for fetching a toolkit.
  packages.insert(packages.end(), {"clang", "clangd", "python3-pip", "ca-certificates"});
  return std::string(kLicense) +
         "# A container with all that ./membound would ask for; .devcontainer/devcontainer.json "
         "names it.\n" +
         kWritten + kNeeds +
         ".\nFROM debian:bookworm\nRUN apt-get update \\\n  && apt-get install -y "
         "--no-install-recommends \\\n    " +
         joined(packages, " \\\n    ") + " \\\n  && rm -rf /var/lib/apt/lists/*\n";
}

}  // namespace

std::vector<std::string> reading_flags(std::string_view clang_flags) {
  std::vector<std::string> kept;
  std::istringstream words{std::string(clang_flags)};
  for (std::string word; words >> word;) {
    if (word == "-mllvm" || word == "-Xclang") {
      words >> word;  // its argument, which is about code that is made
    } else if (word != "-S" && !word.starts_with("-O") && !word.starts_with("-g")) {
      kept.push_back(word);
    }
  }
  return kept;
}

std::vector<std::string> listed_packages(std::string_view needs_sh) {
  std::vector<std::string> packages;
  std::istringstream lines{std::string(needs_sh)};
  bool in_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "LIST") break;
    if (in_list) packages.push_back(line.substr(0, line.find(' ')));
    in_list = in_list || line.ends_with("<<'LIST'");
  }
  return packages;
}

base::Result<std::vector<WrittenFile>> editor_files(const std::filesystem::path& root,
                                                    const course::Course& course) {
  const auto flags = base::read_file(root / kFlags);
  if (!flags) return flags.error();
  const auto needs = base::read_file(root / kNeeds);
  if (!needs) return needs.error();
  return std::vector<WrittenFile>{{".clangd", clangd_text(*flags, course), kFlags},
                                  {".devcontainer/Dockerfile", dockerfile_text(*needs), kNeeds}};
}

std::vector<Drift> check_written_file(const WrittenFile& file, const std::filesystem::path& root,
                                      bool fix) {
  const auto text = base::read_file(root / file.name);
  if (text && *text == file.text) return {};
  if (fix && base::write_file(root / file.name, file.text)) return {};
  return {{file.name, 0, text ? "it is not what is written from " + file.source : "is missing",
           "the file that is written from there", "membound dev check --fix"}};
}

}  // namespace membound::authoring
