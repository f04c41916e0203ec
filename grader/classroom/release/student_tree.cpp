// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/student_tree.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/release/leaks.hpp"
#include "grader/classroom/release/reference.hpp"
#include "grader/classroom/release/student_files.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/handout.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedLeaks = 5;

fs::path templates(const ReleaseRequest& request) {
  return request.root / "grader" / "classroom" / "release" / "templates";
}

std::vector<std::string> ids_of(const ReleaseRequest& request) {
  std::vector<std::string> ids;
  for (const course::Lab& lab : request.labs) ids.push_back(lab.id);
  return ids;
}

/// What is written anew for students.
base::Status add_written(const ReleaseRequest& request, Tree& tree) {
  auto presets = student_presets(tree["CMakePresets.json"].bytes);
  if (!presets) return presets.error();
  tree["CMakePresets.json"].bytes = *std::move(presets);
  tree["labs/CMakeLists.txt"].bytes =
      student_lab_list(tree["labs/CMakeLists.txt"].bytes, ids_of(request));
  auto readme = filled_template(request, "student_readme.md.in");
  if (!readme) return readme.error();
  tree["README.md"].bytes = *std::move(readme);
  auto workflow = base::read_file(templates(request) / "membound.yml");
  if (!workflow) return workflow.error();
  tree[".github/workflows/membound.yml"].bytes = *std::move(workflow);
  for (const auto& [lab, skeleton] : request.skeletons) {
    const course::SplitSubmission split = course::split_submission(skeleton);
    tree["labs/" + lab + "/kernel.cu"].bytes = split.kernel;
    tree["released/" + lab + "/skeleton.cu"].bytes = split.kernel;
    for (const auto& [name, text] : split.beside)
      tree["labs/" + lab + "/" + name].bytes = tree["released/" + lab + "/" + name].bytes = text;
    if (request.reader == Reader::kClass) {
      shorten_handout(tree, lab);
      continue;
    }
    const auto one = std::ranges::find(request.labs, lab, &course::Lab::id);
    const fs::path& root =
        one == request.labs.end() || one->tree.empty() ? request.root : one->tree;
    auto text = base::read_file(root / "solutions" / lab / "kernel.cu");
    if (!text) return text.error();
    tree["released/" + lab + "/answer.cu"].bytes = *std::move(text);
  }
  return base::Done{};
}

/// handouts/LAB/notebook.ipynb, of what students get of handout and skeleton: Colab and Kaggle open
/// it where the tree is published. A draft, or a lab of one's own, may lack what one is made of.
base::Status add_notebooks(const ReleaseRequest& request, Tree& tree) {
  for (const course::Lab& lab : request.labs) {
    const std::string folder = "handouts/" + lab.id + "/";
    const auto handout = tree.find(folder + "handout.md");
    const auto skeleton = request.skeletons.find(lab.id);
    if (handout == tree.end() || skeleton == request.skeletons.end()) continue;
    const course::SplitSubmission split = course::split_submission(skeleton->second);
    auto notebook = report::handout_notebook(
        handout->second.bytes, handout->first, lab,
        {.kernel = split.kernel, .beside = split.beside, .figure = [&](std::string_view target) {
           const auto svg = tree.find(folder + std::string(target));
           return svg == tree.end() ? std::string() : svg->second.bytes;
         }});
    if (notebook)
      tree[folder + "notebook.ipynb"].bytes = *std::move(notebook);
    else if (!lab.draft && lab.tree.empty())
      return notebook.error();
  }
  return base::Done{};
}

/// The grader's own copies of what it works with, so that a changed file in labs/ locks nobody out.
void add_own_copies(const ReleaseRequest& request, Tree& tree) {
  Tree copies;
  for (const auto& entry : tree) {
    const std::string& name = entry.first;
    const bool of_lab =
        std::any_of(request.labs.begin(), request.labs.end(), [&name](const course::Lab& lab) {
          return name.starts_with("labs/" + lab.id + "/") && !name.ends_with("/kernel.cu") &&
                 !name.ends_with(".md");
        });
    if (of_lab || name.starts_with("grader/harness/student/") ||
        name.starts_with("grader/device_code/cuda_api/"))
      copies[std::string(course::kOwnCopies) + "/" + name] = entry.second;
  }
  tree.merge(copies);
}

void add_references(const Tree& references, Tree& tree) {
  for (const auto& [name, file] : references) tree[name] = file;
}

void add_manifest(const ReleaseRequest& request, Tree& tree) {
  nlohmann::ordered_json manifest;
  manifest["schema"] = kManifestSchema;
  manifest["membound_version"] = request.version;
  manifest["made_for"] = request.reader == Reader::kClass ? "class" : "self-study";
  manifest["labs"] = ids_of(request);
  manifest["compilers"] = nlohmann::json::array();
  for (const compilers::CompilerInfo& compiler : request.compilers)
    manifest["compilers"].push_back(compiler.name());
  manifest["architectures"] = request.architectures;
  auto& files = manifest["files"] = nlohmann::ordered_json::object();
  for (const auto& [name, file] : tree) files[name] = base::sha256(file.bytes);
  tree[kManifest].bytes = manifest.dump(1) + "\n";
}

/// Lines of these are no secrets, wherever else they stand.
std::vector<std::string> open_texts(const ReleaseRequest& request, const Tree& tree) {
  std::vector<std::string> texts = request.open;
  for (const auto& [name, file] : tree)
    if (name.ends_with(".cuh") || name.starts_with("grader/harness/device/") ||
        name.starts_with("grader/harness/student/") ||
        name.starts_with("grader/device_code/cuda_api/"))
      texts.push_back(file.bytes);
  return texts;
}

base::Status look_for_leaks(const ReleaseRequest& request, const Tree& tree) {
  std::vector<fs::path> roots;
  std::error_code error;  // an installed Membound's own sources come without answers
  if (fs::is_directory(request.root / "solutions", error)) roots.push_back(request.root);
  for (const course::Lab& lab : request.labs)
    if (!lab.tree.empty() && std::find(roots.begin(), roots.end(), lab.tree) == roots.end())
      roots.push_back(lab.tree);
  // For self-study nothing is secret but where the tree was made.
  const auto secrets = request.reader == Reader::kClass
                           ? Secrets::read(roots, open_texts(request, tree))
                           : base::Result<Secrets>(Secrets());
  if (!secrets) return secrets.error();
  const auto leaks = find_leaks(tree, *secrets, {request.root, request.scratch});
  if (!leaks) return leaks.error();
  if (leaks->empty()) return base::Done{};
  std::string found = base::counted(leaks->size(), "place") + " would give a solution away:";
  for (std::size_t i = 0; i < leaks->size() && i < kNamedLeaks; ++i)
    found += "\n" + to_string((*leaks)[i]);
  return base::Error{base::ErrorKind::kInput, "release", found,
                     "no line of solutions/ outside of skeletons",
                     "take these lines out, or say them otherwise; nothing was written"};
}

}  // namespace

base::Result<std::string> filled_template(const ReleaseRequest& request, const std::string& name,
                                          const std::map<std::string, std::string>& more) {
  const fs::path file = templates(request) / name;
  const auto text = base::read_file(file);
  if (!text) return text.error();
  nlohmann::json labs = nlohmann::json::array();
  for (const course::Lab& lab : request.labs)
    labs.push_back({{"id", lab.id}, {"title", lab.title}, {"summary", lab.summary}});
  nlohmann::json values = {{"labs", labs},
                           {"first", request.labs.empty() ? "" : request.labs.front().id},
                           {"version", request.version},
                           {"class", request.reader == Reader::kClass},
                           {"self_study", request.reader == Reader::kSelfStudy}};
  for (const auto& [key, value] : more) values[key] = value;
  auto filled = base::filled_template(*text, values, base::Quoting::kNone);
  if (filled) return filled;
  base::Error error = filled.error();
  error.where = file.string();
  return error;
}

base::Result<Tree> student_tree(const ReleaseRequest& request) {
  auto tree = course_files(request.root, request.labs);
  if (!tree) return tree.error();
  const auto written = add_written(request, *tree);
  if (!written) return written.error();
  const auto noted = add_notebooks(request, *tree);
  if (!noted) return noted.error();
  ReferenceRequest reference;
  reference.root = request.root;
  for (const course::Lab& lab : request.labs)
    if (lab.has_reference()) reference.labs.push_back(lab.id);
  for (const course::Lab& lab : request.labs)
    if (!lab.tree.empty()) reference.trees[lab.id] = lab.tree;
  reference.compilers = request.compilers;
  reference.architectures = request.architectures;
  reference.harness_kernels = !request.binaries_of.empty();
  reference.scratch = request.scratch;
  reference.stop = request.stop;
  reference.on_step = request.on_step;
  const auto references = compile_references(reference);
  if (!references) return references.error();
  add_references(*references, *tree);
  add_own_copies(request, *tree);
  if (!request.binaries_of.empty()) {
    const auto programs = built_programs(request.binaries_of, request.labs);
    if (!programs) return programs.error();
    for (const auto& [name, file] : *programs) (*tree)[name] = file;
  }
  const auto looked = look_for_leaks(request, *tree);
  if (!looked) return looked.error();
  add_manifest(request, *tree);
  return tree;
}

namespace {

/// Nobody reads there.
constexpr std::array<std::string_view, 4> kTexts = {"handouts/", "docs/", ".github/", "README.md"};

bool is_text_for_people(const std::string& name) {
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

// The files are moved, which clang-tidy does not see.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
base::Result<Tree> autograder_tree(const ReleaseRequest& request, Tree students,
                                   const AutograderOptions& options) {
  Tree tree;
  for (auto& [name, file] : students)
    if (!is_text_for_people(name)) tree["course/" + name] = std::move(file);
  const std::map<std::string, std::string> values = {{"device", options.device},
                                                     {"compilers", options.compilers},
                                                     {"lab", options.lab},
                                                     {"seconds", std::to_string(options.seconds)}};
  for (const std::string name : {"setup.sh", "run_autograder"}) {
    auto script = filled_template(request, name, values);
    if (!script) return script.error();
    tree[name] = {*std::move(script), true};
  }
  return tree;
}

}  // namespace membound::release
