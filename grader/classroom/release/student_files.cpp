// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/student_files.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

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
/// measured; and the answers of a new lab.
constexpr std::array<std::string_view, 5> kNotOfGrader = {
    "grader/authoring/new_lab/", "grader/tests/", "grader/gpu_truth/", "grader/authoring/bench/",
    "grader/vgpu/bench/"};

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
  /// `all`: also what git does not track.
  explicit Collecting(const fs::path& root, bool all = false) : root_(root) {
    if (!all) tracked_ = tracked_files(root);
  }

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

namespace {

/// labs/CMakeLists.txt with one more lab after the last.
std::string with_lab(std::string text, const std::string& id) {
  const auto last = text.rfind("\nadd_lab(");
  const auto end = last == std::string::npos ? text.size() : text.find('\n', last + 1) + 1;
  return text.insert(end, "add_lab(" + id + ")\n");
}

}  // namespace

base::Result<Tree> course_files(const fs::path& root, const std::vector<course::Lab>& labs) {
  std::vector<std::string> names(kTop.begin(), kTop.end());
  names.insert(names.end(), {"grader", "labs/CMakeLists.txt", "CMakePresets.json"});
  for (const std::string_view doc : kDocs) names.push_back("docs/" + std::string(doc));
  for (const course::Lab& lab : labs)
    if (lab.tree.empty()) names.insert(names.end(), {"labs/" + lab.id, "handouts/" + lab.id});
  Collecting collecting(root);
  for (const std::string& name : names) {
    const auto added = collecting.add(name);
    if (!added) return added.error();
  }
  Tree tree = collecting.take();
  for (const course::Lab& lab : labs) {
    if (lab.tree.empty()) continue;
    Collecting others(lab.tree, true);
    for (const char* folder : {"labs/", "handouts/"})
      if (const auto added = others.add(folder + lab.id); !added) return added.error();
    tree.merge(others.take());
    // To students it is a lab of the course.
    tree["labs/CMakeLists.txt"].bytes = with_lab(tree["labs/CMakeLists.txt"].bytes, lab.id);
  }
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

namespace {

/// Whether the text says how this experiment is run: "strides" begins "strides-wrapped", too.
bool says_how_to_run(const std::string& text, const std::string& experiment) {
  const std::string command = "membound experiment " + experiment;
  for (auto at = text.find(command); at != std::string::npos; at = text.find(command, at + 1))
    if (text.substr(at + command.size(), 1) != "-") return true;
  return false;
}

/// Leaves the rows of experiments.json that `kept` says how to run; the files that are kept of it.
std::set<std::string> keep_experiments(Tree& tree, const std::string& folder,
                                       const std::string& kept) {
  const auto table = tree.find(folder + "experiments.json");
  if (table == tree.end()) return {};
  std::set<std::string> files;
  auto left = nlohmann::ordered_json::array();
  for (const auto& row : nlohmann::ordered_json::parse(table->second.bytes)) {
    if (!says_how_to_run(kept, row.at("name"))) continue;
    files.insert(row.at("file").get<std::string>());
    left.push_back(row);
  }
  if (!left.empty()) files.insert("experiments.json");
  table->second.bytes = left.dump(2) + "\n";
  return files;
}

}  // namespace

std::string student_handout(const std::string& text) {
  const std::string heading = std::string("\n") + kAfterwards;
  const auto end = text.find(heading);
  if (end == std::string::npos) return text;
  return text.substr(0, end + 1) + kAfterwards +
         "\n\nThe rest of this text explains the reference answers. This copy of the course was "
         "made for a class,\nwhich gets that part when the lab is over.\n";
}

void shorten_handout(Tree& tree, const std::string& lab) {
  const std::string folder = "handouts/" + lab + "/";
  const auto handout = tree.find(folder + "handout.md");
  if (handout == tree.end()) return;
  const std::string whole = handout->second.bytes;
  handout->second.bytes = student_handout(whole);
  const std::string& kept = handout->second.bytes;
  if (kept == whole) return;
  const std::set<std::string> of_experiments = keep_experiments(tree, folder, kept);
  for (auto file = tree.lower_bound(folder);
       file != tree.end() && file->first.starts_with(folder);) {
    const std::string name = file->first.substr(file->first.rfind('/') + 1);
    const bool named =
        file == handout || kept.find(name) != std::string::npos || of_experiments.contains(name);
    file = named ? std::next(file) : tree.erase(file);
  }
}

namespace {

constexpr double kInstallSeconds = 120;

/// Puts one component (grader/cmake/Install.cmake) of the build folder `build` into `folder`.
base::Status install(const fs::path& build, const std::string& component, const fs::path& folder) {
  auto run = base::run_process({.arguments = {"cmake", "--install", build.string(), "--prefix",
                                              folder.string(), "--component", component},
                                .environment = {{"DESTDIR", ""}},
                                .timeout_seconds = kInstallSeconds});
  if (!run) return run.error();
  if (run->exit_code == 0) return base::Done{};
  return base::Error{base::ErrorKind::kMachine, "cmake --install " + build.string(),
                     "ended with an error: " + run->output, "a whole build",
                     "call it as ./membound release, which builds it; on Debian or Ubuntu"};
}

base::Status add_folder(const fs::path& folder, Tree& tree) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    auto bytes = base::read_file(entry.path());
    if (!bytes) return bytes.error();
    const bool executable =
        (entry.status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    tree[kBinaries + entry.path().lexically_relative(folder).generic_string()] = {*std::move(bytes),
                                                                                  executable};
  }
  return base::Done{};
}

}  // namespace

base::Result<Tree> built_programs(const fs::path& build, const std::vector<course::Lab>& labs) {
  const base::ScratchFolder scratch("binaries");
  std::vector<std::string> components = {"programs"};
  for (const course::Lab& lab : labs)
    if (lab.tree.empty()) components.push_back(lab.id);  // others were not built with the course
  components.emplace_back("libraries");                  // last: those of what is there by then
  for (const std::string& component : components) {
    const auto installed = install(build, component, scratch.path());
    if (!installed) return installed.error();
  }
  Tree tree;
  const auto added = add_folder(scratch.path(), tree);
  if (!added) return added.error();
  // Without a device compiler a build has no labs.
  for (const course::Lab& lab : labs)
    for (const course::StageKind* kind : lab.kinds()) {
      const std::string name = lab.has_oracle()
                                   ? "bin/oracle_" + std::string(kind->test_program)
                                   : "labs/" + lab.id + "/" + std::string(kind->test_program);
      if (!tree.contains(kBinaries + name))
        return base::Error{base::ErrorKind::kMachine, (build / name).string(), "is not built",
                           "a whole build", "call it as ./membound release, which builds it"};
    }
  return tree;
}

}  // namespace membound::release
