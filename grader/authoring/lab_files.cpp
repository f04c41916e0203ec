// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>
#include <set>

#include "grader/authoring/checks.hpp"
#include "grader/course/experiment.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// `allowed` matches the names of files that may be there, too.
void check_folder(const LabFolders& folders, const fs::path& folder,
                  const std::set<std::string>& wanted, Drifts& drifts,
                  const std::regex& allowed = {}) {
  for (const std::string& name : wanted) {
    if (fs::exists(folder / name)) continue;
    drifts.push_back({folders.shown(folder / name), 0, "the file is missing",
                      "every lab has the same files", "docs/writing_a_lab.md says what it holds"});
  }
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (wanted.contains(name) || std::regex_match(name, allowed)) continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no lab has such a file",
                      "only the files docs/writing_a_lab.md names", "remove or move it"});
  }
}

}  // namespace

void check_files(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::set<std::string> reference = {"reference.hpp", "reference.cpp"};
  std::set<std::string> wanted = {"README.md", "lab.json", "kernel.cuh", "kernel.cu"};
  for (const course::StageKind* kind : lab.kinds()) wanted.emplace(kind->test_source);
  if (lab.has_reference()) wanted.insert(reference.begin(), reference.end());
  check_folder(folders, folders.lab, wanted, drifts, std::regex(R"(reference\.[ch]pp)"));
  check_folder(folders, folders.solution, {"kernel.cu", "NOTES.md", "wrong"}, drifts);
  std::set<std::string> handout = {"handout.md", "figures"};
  std::vector<course::Experiment> experiments;
  // What cannot be read, check_experiments() says.
  if (!course::read_experiments_of(folders.handout, experiments)) experiments.clear();
  for (const course::Experiment& each : experiments) handout.insert(each.file.filename().string());
  check_folder(folders, folders.handout, handout, drifts,
               std::regex(R"(experiment(_\w+)?\.cu|experiments\.json)"));
}

}  // namespace membound::authoring
