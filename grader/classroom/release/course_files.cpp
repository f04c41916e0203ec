// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/course_files.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

constexpr double kGitSeconds = 60;
constexpr std::size_t kGitBytes = 8 << 20;

/// At the top of the tree.
constexpr std::array<std::string_view, 8> kTop = {"CMakeLists.txt", "LICENSE",    "membound",
                                                  ".clang-format",  ".gitignore", ".clangd",
                                                  ".devcontainer",  ".vscode"};
/// Of docs/: what a student's pages and messages refer to.
constexpr std::array<std::string_view, 13> kDocs = {
    "checkers.md",        "counters.md",     "counters_file.md",   "counters_file.schema.json",
    "glossary.md",        "lab.schema.json", "performance.md",     "real_programs.md",
    "guided_analysis.md", "result.md",       "result.schema.json", "sampled_launches.md",
    "timing_model.md"};
/// Of grader/: what only developers build, the tests with the corpus of attacks, and what GPUs
/// measured.
constexpr std::array<std::string_view, 4> kNotOfGrader = {
    "grader/tests/", "grader/gpu_truth/", "grader/authoring/bench/", "grader/vgpu/bench/"};

/// What git tracks below `root`; nothing where there is no git or no repository.
std::optional<std::set<std::string>> tracked_files(const fs::path& root) {
  const auto answer = base::run_process(
      {.arguments = {"git", "-c", "core.quotepath=off", "-C", root.string(), "ls-files", "-z"},
       .timeout_seconds = kGitSeconds,
       .output_limit_bytes = kGitBytes});
  if (!answer || answer->exit_code != 0 || answer->output.empty()) return std::nullopt;
  std::set<std::string> files;
  std::istringstream names(answer->output);
  for (std::string name; std::getline(names, name, '\0');) files.insert(name);
  return files;
}

bool is_hidden(const std::string& name) { return name.starts_with('.') || name.ends_with('~'); }

/// Collects files into a tree.
class Collecting {
 public:
  explicit Collecting(const fs::path& root) : root_(root), tracked_(tracked_files(root)) {}

  /// A file, or a folder with all that is in it; hidden names only where they are asked for.
  base::Status add(const std::string& name) {
    std::error_code error;
    const fs::path place = root_ / name;
    const auto status = fs::symlink_status(place, error);
    if (fs::is_directory(status)) return add_folder(name);
    if (!fs::is_regular_file(status) || (tracked_ && !tracked_->contains(name)))
      return base::Done{};
    auto text = base::read_file(place);
    if (!text) return text.error();
    const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    tree_[name] = {*std::move(text), executable};
    return base::Done{};
  }

  Tree take() { return std::move(tree_); }

 private:
  base::Status add_folder(const std::string& name) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(root_ / name, error), end; !error && entry != end;
         entry.increment(error))
      names.push_back(entry->path().filename().string());
    for (const std::string& inner : names) {
      const std::string path = name + "/" + inner;
      const bool left_out = std::any_of(kNotOfGrader.begin(), kNotOfGrader.end(),
                                        [&](auto folder) { return path + "/" == folder; });
      if (is_hidden(inner) || left_out) continue;
      const auto added = add(path);
      if (!added) return added;
    }
    return base::Done{};
  }

  fs::path root_;
  std::optional<std::set<std::string>> tracked_;
  Tree tree_;
};

}  // namespace

base::Result<Tree> course_files(const fs::path& root, const std::vector<std::string>& labs) {
  std::vector<std::string> names(kTop.begin(), kTop.end());
  names.insert(names.end(), {"grader", "labs/CMakeLists.txt", "CMakePresets.json"});
  for (const std::string_view doc : kDocs) names.push_back("docs/" + std::string(doc));
  for (const std::string& lab : labs) names.insert(names.end(), {"labs/" + lab, "handouts/" + lab});
  Collecting collecting(root);
  for (const std::string& name : names) {
    const auto added = collecting.add(name);
    if (!added) return added.error();
  }
  Tree tree = collecting.take();
  for (const std::string needed : {"CMakeLists.txt", "CMakePresets.json", "membound",
                                   "labs/CMakeLists.txt", "grader/CMakeLists.txt"}) {
    if (tree.contains(needed)) continue;
    return base::Error{base::ErrorKind::kMachine, (root / needed).string(), "is missing",
                       "a whole course, every file of it known to git if there is git", ""};
  }
  return tree;
}

base::Result<std::string> student_presets(const std::string& text) {
  auto presets = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!presets.is_object() || !presets.contains("configurePresets"))
    return base::Error{base::ErrorKind::kInput, "CMakePresets.json", "cannot be read as JSON",
                       "the presets base and student", ""};
  nlohmann::ordered_json kept;
  for (const char* key : {"version", "cmakeMinimumRequired"})
    if (presets.contains(key)) kept[key] = presets[key];
  for (const char* list : {"configurePresets", "buildPresets", "workflowPresets"}) {
    kept[list] = nlohmann::ordered_json::array();
    for (const auto& preset : presets.value(list, nlohmann::ordered_json::array())) {
      const std::string name = preset.value("name", "");
      if (name == "base" || name == "student") kept[list].push_back(preset);
    }
  }
  return kept.dump(2) + "\n";
}

std::string student_lab_list(const std::string& text, const std::vector<std::string>& labs) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kCall = "add_lab(";
    if (line.starts_with(kCall)) {
      const std::string id = line.substr(kCall.size(), line.find_first_of(" )") - kCall.size());
      if (std::find(labs.begin(), labs.end(), id) == labs.end()) continue;
    }
    kept += line + "\n";
  }
  return kept;
}

}  // namespace membound::release
