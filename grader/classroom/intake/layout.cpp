// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/layout.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::intake {
namespace {

struct GradescopeStudent {
  std::string name, id, email;
};

/// One folder of the export.
struct GradescopeSubmission {
  std::string folder;  ///< "submission_123"
  std::vector<GradescopeStudent> students;
  std::int64_t time = 0;  ///< created_at; 0 where it cannot be read
};

YAML::Node field(const YAML::Node& node, const std::string& name) {
  if (!node.IsMap()) return {};
  for (const std::string& key : {":" + name, name})
    if (const YAML::Node found = node[key]) return found;
  return {};
}

std::string text_of(const YAML::Node& node) {
  return node && node.IsScalar() ? normal(node.Scalar()) : "";
}

/// What the file says; empty where it is no such file. Keys may have Ruby's colon (":submitters").
std::vector<GradescopeSubmission> read_metadata(const std::string& yaml) {
  std::vector<GradescopeSubmission> all;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return all;
    for (const auto& entry : root) {
      GradescopeSubmission submission;
      submission.folder = text_of(entry.first);
      submission.time = parse_time(text_of(field(entry.second, "created_at"))).value_or(0);
      const YAML::Node submitters = field(entry.second, "submitters");
      if (submitters && submitters.IsSequence()) {
        for (const YAML::Node& one : submitters)
          submission.students.push_back({text_of(field(one, "name")), text_of(field(one, "sid")),
                                         text_of(field(one, "email"))});
      }
      all.push_back(std::move(submission));
    }
  } catch (const YAML::Exception&) {
    all.clear();  // not what Gradescope writes: the folders' names have to do
  }
  return all;
}

using Parts = std::vector<std::string>;

/// An entry without the folder that everything lies in.
struct Rest {
  const Entry* entry;
  std::vector<std::string> path, raw;
};

/// "kernel-1.cu": Canvas numbers files of one name that a student hands in again.
const std::regex& numbered_name() {
  static const std::regex pattern("^.+-([0-9]{1,4})\\.[^.]+(\\.[^.]+)?$");
  return pattern;
}

Parts tail(const Parts& parts) { return {parts.begin() + 1, parts.end()}; }

/// Items under construction, one for each student and attempt.
class Collection {
 public:
  Item& at(const std::string& key, const std::string& raw_key, int order) {
    const auto [place, added] = index_.try_emplace({raw_key, order, key}, items_.size());
    if (added) {
      Item item;
      item.key = key;
      item.raw_key = raw_key;
      item.order = order;
      items_.push_back(std::move(item));
    }
    return items_[place->second];
  }
  void add(Item& item, const Entry& entry, Parts inner) {
    if (inner.empty()) inner = {entry.name()};
    // The newest source is when it was handed in, unless the layout knows better.
    if (entry.is_source() || entry.is_beside || entry.problem)
      item.time = std::max(item.time, entry.time);
    item.files.push_back({&entry, std::move(inner)});
  }
  std::vector<Item> take() { return std::move(items_); }

 private:
  std::vector<Item> items_;
  std::map<std::tuple<std::string, int, std::string>, std::size_t> index_;
};

int number_in(const std::string& digits) { return std::stoi(digits.substr(0, 6)); }

/// What all names start with, up to and with its last '-'.
std::string common_prefix(const std::set<std::string>& names) {
  if (names.size() < 2) return "";
  std::string prefix = *names.begin();
  for (const std::string& name : names) {
    const auto [end, other] = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
    prefix.erase(end, prefix.end());
  }
  const auto dash = prefix.rfind('-');
  return dash == std::string::npos ? "" : prefix.substr(0, dash + 1);
}

/// "doejane_LATE_12345_67890_kernel-1.cu": name, late, user id, attachment id, file name.
const std::regex& canvas_name() {
  static const std::regex pattern("^(.+?)_(LATE_)?([0-9]+)_([0-9]+)_(.+)$");
  return pattern;
}

/// "Jane Doe_123_assignsubmission_file_", and after it the file's name where there is no folder.
const std::regex& moodle_name() {
  static const std::regex pattern("^(.+)_([0-9]+)_assignsubmission_(file|onlinetext)_?(.*)$");
  return pattern;
}

/// "attempt2", "try 1".
const std::regex& attempt_name() {
  static const std::regex pattern("^(attempt|submission|try|version)[-_ ]?([0-9]{1,4})$",
                                  std::regex::icase);
  return pattern;
}

/// Takes "attempt-2" off the front of a path; its number, 0 where there is none.
int taken_attempt(Parts& inner) {
  if (inner.size() < 2) return 0;
  std::smatch match;
  const std::string name = stem(inner[0]);
  if (!std::regex_match(name, match, attempt_name())) return 0;
  const int order = number_in(match[2]);
  if (order > 0) inner.erase(inner.begin());
  return order;
}

std::vector<Item> canvas_items(const std::vector<Rest>& rests) {
  Collection all;
  for (const Rest& rest : rests) {
    std::smatch match;
    if (!std::regex_match(rest.path[0], match, canvas_name())) {
      Item& other = all.at(rest.path[0], rest.raw[0], 0);
      other.origin = rest.path[0];
      all.add(other, *rest.entry, tail(rest.path));
      continue;
    }
    std::smatch number;
    const std::string file = match[5];
    const int order = std::regex_match(file, number, numbered_name()) ? number_in(number[1]) : 0;
    Item& item = all.at(match[3], match[3], order);
    item.key_is_id = true;
    item.words = {match[1]};
    item.marked_late = item.marked_late || match[2].matched;
    item.origin = rest.path[0];
    Parts inner = rest.path;
    inner[0] = file;
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

std::vector<Item> moodle_items(const std::vector<Rest>& rests) {
  Collection all;
  for (const Rest& rest : rests) {
    std::smatch match;
    if (!std::regex_match(rest.path[0], match, moodle_name())) {
      Item& other = all.at(rest.path[0], rest.raw[0], 0);
      other.origin = rest.path[0];
      all.add(other, *rest.entry, tail(rest.path));
      continue;
    }
    if (match[3] == "onlinetext") continue;  // a text field beside the files
    Parts inner = tail(rest.path);
    if (match[4].length() > 0) inner.insert(inner.begin(), match[4]);
    Item& item = all.at(match[2], match[2], taken_attempt(inner));
    item.key_is_id = true;
    item.name = match[1];
    item.words = {item.name};
    // Where a class has groups, Moodle writes "GROUP-Jane Doe".
    for (auto dash = item.name.find('-'); dash != std::string::npos;
         dash = item.name.find('-', dash + 1))
      item.words.push_back(item.name.substr(dash + 1));
    item.origin = rest.path[0];
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

std::vector<Item> gradescope_items(const std::vector<Rest>& rests) {
  std::vector<GradescopeSubmission> known;
  for (const Rest& rest : rests)
    if (rest.path.size() == 1 && !rest.entry->text.empty()) known = read_metadata(rest.entry->text);
  std::map<std::string, Item> folders;
  for (const Rest& rest : rests) {
    if (rest.path.size() == 1 && rest.path[0] == kMetadata) continue;
    Item& item = folders[stem(rest.path[0])];
    item.raw_key = rest.raw[0];
    item.origin = rest.path[0];
    Parts inner = tail(rest.path);
    if (inner.empty()) inner = {rest.path[0]};
    item.files.push_back({rest.entry, std::move(inner)});
  }
  std::vector<Item> items;
  for (auto& [folder, item] : folders) {
    const auto found =
        std::find_if(known.begin(), known.end(),
                     [&folder = folder](const auto& one) { return one.folder == folder; });
    if (found == known.end() || found->students.empty()) {
      item.key = folder;
      items.push_back(item);
      continue;
    }
    // A group's submission counts for each of its members.
    for (const GradescopeStudent& student : found->students) {
      Item one = item;
      one.key = !student.id.empty() ? student.id : !student.email.empty() ? student.email : folder;
      one.raw_key = one.key;
      one.key_is_id = true;
      one.words = {student.email, student.name};
      one.name = student.name;
      one.email = student.email;
      one.time = found->time;
      one.time_is_record = found->time != 0;
      if (found->students.size() > 1) one.group = folder;
      items.push_back(std::move(one));
    }
  }
  return items;
}

/// `github`: what all folders' names start with is the assignment's.
std::vector<Item> plain_items(const std::vector<Rest>& rests, bool github) {
  std::set<std::string> names;
  for (const Rest& rest : rests) names.insert(stem(rest.path[0]));
  const std::string prefix = github ? common_prefix(names) : "";
  Collection all;
  for (const Rest& rest : rests) {
    std::string key = stem(rest.path[0]);
    if (key.size() > prefix.size() && key.starts_with(prefix)) key.erase(0, prefix.size());
    Parts inner = tail(rest.path);
    const int order = taken_attempt(inner);
    Item& item = all.at(key, stem(rest.raw[0]), order);
    item.origin = rest.path[0];
    all.add(item, *rest.entry, std::move(inner));
  }
  return all.take();
}

/// The items with the lab that each file's path names: of several parts the innermost says it.
std::vector<Item> with_labs(std::vector<Item> items, const std::vector<course::Lab>& labs) {
  for (Item& item : items)
    for (ItemFile& file : item.files)
      for (auto part = file.inner.rbegin(); part != file.inner.rend() && !file.lab; ++part)
        file.lab = lab_named(*part, labs);
  return items;
}

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

std::optional<std::string> lab_named(const std::string& name,
                                     const std::vector<course::Lab>& labs) {
  const std::string word = folded(stem(name));
  std::optional<std::string> found;
  for (const course::Lab& lab : labs) {
    const std::string id = folded(lab.id);
    const auto dash = id.find('-');
    const std::string short_name = dash == std::string::npos ? id : id.substr(dash + 1);
    if (word == id || word == short_name) return lab.id;
    if (word.find(id) != std::string::npos) found = lab.id;
  }
  return found;
}

base::Result<std::string> lab_meant(const std::string& name, const std::vector<course::Lab>& labs,
                                    const std::string& where) {
  if (auto found = lab_named(name, labs)) return *std::move(found);
  const course::Course course{{}, labs};
  const auto found = course.find(shown(name, 60));
  if (found) return (*found)->id;
  base::Error error = found.error();
  error.where = where;
  return error;
}

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

namespace {

/// The layout that most names fit.
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

}  // namespace

bool holds_class(const std::string& archive, const Entries& members,
                 const std::vector<course::Lab>& labs,
                 const std::function<bool(const std::string&)>& is_student) {
  if (detect(members) != Layout::kPlain) return true;
  std::set<std::string> names;
  for (const Rest& rest : rests_of(members, has_common_folder(members, labs))) {
    const bool in_archive = !rest.entry->is_empty_folder &&
                            std::any_of(rest.path.begin(), rest.path.end(), is_archive_name);
    if (rest.entry->is_source() || in_archive) names.insert(stem(rest.path[0]));
  }
  if (std::any_of(names.begin(), names.end(), is_student)) return true;
  if (is_student(stem(archive)) || names.size() < 2) return false;
  std::smatch match;
  return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::regex_match(name, match, own_name()) || is_lab_name(name, labs);
  });
}

namespace {

/// Entries by student and attempt, in the order of their names.
std::vector<Item> class_items(const Entries& entries, Layout layout,
                              const std::vector<course::Lab>& labs) {
  const auto rests = rests_of(entries, has_common_folder(entries, labs));
  switch (layout) {
    case Layout::kCanvas:
      return with_labs(canvas_items(rests), labs);
    case Layout::kMoodle:
      return with_labs(moodle_items(rests), labs);
    case Layout::kGradescope:
      return with_labs(gradescope_items(rests), labs);
    case Layout::kGithub:
      return with_labs(plain_items(rests, true), labs);
    case Layout::kPlain:
      break;
  }
  return with_labs(plain_items(rests, false), labs);
}

/// Everything as what `student` handed in at one time; nothing where there is nothing.
std::vector<Item> items_of_one(const Entries& entries, const std::string& student,
                               const std::vector<course::Lab>& labs) {
  Item item;
  item.key = item.raw_key = item.origin = student;
  item.key_is_id = true;
  for (const Entry& entry : entries.files) item.files.push_back({&entry, entry.path});
  if (item.files.empty()) return {};
  return with_labs({std::move(item)}, labs);
}

}  // namespace

SourceItems items_of(const Entries& entries, std::optional<Layout> layout,
                     const std::string& student, const std::vector<course::Lab>& labs) {
  const Layout own = layout.value_or(detect(entries));
  return {own,
          student.empty() ? class_items(entries, own, labs) : items_of_one(entries, student, labs)};
}

}  // namespace membound::intake
