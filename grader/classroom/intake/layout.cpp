// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/layout.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <utility>

#include "grader/classroom/intake/layout_items.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

constexpr std::array<std::pair<Layout, std::string_view>, 5> kNames = {{
    {Layout::kPlain, "plain"},
    {Layout::kCanvas, "canvas"},
    {Layout::kMoodle, "moodle"},
    {Layout::kGradescope, "gradescope"},
    {Layout::kGithub, "github"},
}};

/// What people call folders of their own work.
const std::regex& own_name() {
  static const std::regex pattern(
      "^(kernel.*|(src|source|sources|solution|solutions|code|work|project|lab|labs|ex|exercise|"
      "assignment|hw|homework|task|stage|week|part|attempt|submission|try|version)[-_ ]?[0-9]*)$",
      std::regex::icase);
  return pattern;
}
/// "03-transpose" or "transpose".
bool is_lab_name(const std::string& name, const std::vector<course::Lab>& labs) {
  const std::string word = folded(name);
  return std::any_of(labs.begin(), labs.end(), [&](const course::Lab& lab) {
    return word == lab.id || (lab.id.size() > 3 && word == lab.id.substr(3));
  });
}

/// The folder that everything lies in says nothing about a student.
bool has_common_folder(const Entries& entries, const std::vector<course::Lab>& labs) {
  std::set<std::string> first, second;
  bool has_sibling = false;
  for (const Entry& entry : entries.files) {
    if (entry.path.size() < 2 && entry.is_empty_folder) {
      has_sibling = true;
      continue;
    }
    if (entry.path.size() < 2) return false;
    first.insert(entry.path[0]);
    second.insert(entry.path[1]);
  }
  if (first.size() != 1 || is_archive_name(*first.begin())) return false;
  if (second.contains(kMetadata)) return true;
  std::smatch match;
  if (std::regex_match(*first.begin(), match, moodle_name())) return false;
  for (const std::string& name : second)
    if (std::regex_match(name, match, canvas_name()) ||
        std::regex_match(name, match, moodle_name()))
      return true;
  if (second.size() < 2 || has_sibling) return false;
  for (const std::string& name : second) {
    const std::string word = folded(stem(name));
    if (word.starts_with("kernel") || std::regex_match(word, attempt_name())) return false;
    if (is_lab_name(word, labs)) return false;
  }
  return true;
}

std::vector<Rest> rests_of(const Entries& entries, bool common_folder) {
  std::vector<Rest> rests;
  for (const Entry& entry : entries.files) {
    Rest rest{&entry, entry.path, entry.raw};
    if (common_folder && rest.path.size() < 2) continue;  // an empty folder beside the class's
    if (common_folder) {
      rest.path.erase(rest.path.begin());
      if (!rest.raw.empty()) rest.raw.erase(rest.raw.begin());
    }
    if (rest.raw.size() < rest.path.size()) rest.raw.resize(rest.path.size());
    rests.push_back(std::move(rest));
  }
  return rests;
}

}  // namespace

std::string_view to_string(Layout layout) {
  for (const auto& [value, name] : kNames)
    if (value == layout) return name;
  return "plain";
}

std::optional<Layout> layout_from_string(std::string_view text) {
  for (const auto& [value, name] : kNames)
    if (name == text) return value;
  return std::nullopt;
}

Layout detect(const Entries& entries) {
  std::set<std::string> names;
  for (const Entry& entry : entries.files) names.insert(entry.path[0]);
  std::smatch match;
  if (names.size() == 1 && !std::regex_match(*names.begin(), match, moodle_name())) {
    std::set<std::string> below;
    for (const Entry& entry : entries.files)
      if (entry.path.size() > 1) below.insert(entry.path[1]);
    if (!below.empty()) names = std::move(below);
  }
  // Only beside the students' folders: within one of them anybody may write it.
  if (names.contains(kMetadata)) return Layout::kGradescope;
  std::size_t canvas = 0, moodle = 0;
  for (const std::string& name : names) {
    canvas += std::regex_match(name, match, canvas_name()) ? 1 : 0;
    moodle += std::regex_match(name, match, moodle_name()) ? 1 : 0;
  }
  if (2 * moodle >= names.size() && moodle > 0) return Layout::kMoodle;
  if (2 * canvas >= names.size() && canvas > 0) return Layout::kCanvas;
  if (2 * entries.clones.size() >= names.size() && !entries.clones.empty()) return Layout::kGithub;
  return Layout::kPlain;
}

bool holds_class(const std::string& archive, const Entries& members,
                 const std::vector<course::Lab>& labs, const Roster& roster) {
  if (detect(members) != Layout::kPlain) return true;
  std::set<std::string> names;
  for (const Rest& rest : rests_of(members, has_common_folder(members, labs))) {
    const bool in_archive = !rest.entry->is_empty_folder &&
                            std::any_of(rest.path.begin(), rest.path.end(), is_archive_name);
    if (rest.entry->is_source() || in_archive) names.insert(stem(rest.path[0]));
  }
  const auto is_student = [&](const std::string& name) {
    return roster.find(name) != nullptr || roster.find_alike(name) != nullptr;
  };
  if (std::any_of(names.begin(), names.end(), is_student)) return true;
  if (is_student(stem(archive)) || names.size() < 2) return false;
  std::smatch match;
  return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::regex_match(name, match, own_name()) || is_lab_name(name, labs);
  });
}

std::vector<Item> items_of(const Entries& entries, Layout layout,
                           const std::vector<course::Lab>& labs) {
  const auto rests = rests_of(entries, has_common_folder(entries, labs));
  switch (layout) {
    case Layout::kCanvas:
      return canvas_items(rests);
    case Layout::kMoodle:
      return moodle_items(rests);
    case Layout::kGradescope:
      return gradescope_items(rests);
    case Layout::kGithub:
      return plain_items(rests, true);
    case Layout::kPlain:
      break;
  }
  return plain_items(rests, false);
}

}  // namespace membound::intake
