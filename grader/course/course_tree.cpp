// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/course_tree.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "grader/base/strings.hpp"

namespace membound::course {
namespace {

namespace fs = std::filesystem;

std::optional<int> as_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// "03-transpose" -> 3 and "transpose".
int number_of(const std::string& id) {
  return as_number(std::string_view(id).substr(0, id.find('-'))).value_or(1000);
}
std::string name_of(const std::string& id) {
  const auto dash = id.find('-');
  return dash == std::string::npos ? id : id.substr(dash + 1);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  const auto suggestion = base::nearest(word, candidates);
  return suggestion ? "did you mean \"" + *suggestion + "\"?" : otherwise;
}

base::Error unknown_lab(const Course& course, std::string_view word) {
  std::vector<std::string> names;
  std::vector<std::string> ids;
  for (const Lab& lab : course.labs) {
    names.push_back(name_of(lab.id));
    ids.push_back(lab.id);
  }
  return {base::ErrorKind::kUsage, "", "there is no lab \"" + std::string(word) + "\"",
          "a number, a name or its beginning: " + joined(ids),
          did_you_mean(word, names, "membound list")};
}

base::Error several_labs(std::string_view word, const std::vector<std::string>& ids) {
  return {base::ErrorKind::kUsage, "", "\"" + std::string(word) + "\" fits several labs",
          "one of " + joined(ids), "write more letters, or the number"};
}

base::Error unknown_stage(const Lab& lab, std::string_view word) {
  std::vector<std::string> names;
  std::string list;
  for (const Stage& stage : lab.stages) {
    names.push_back(stage.name);
    list += (list.empty() ? "" : ", ") + std::to_string(stage.number) + " " + stage.name;
  }
  return {base::ErrorKind::kUsage, "",
          "lab " + lab.id + " has no stage \"" + std::string(word) + "\"", "one of " + list,
          did_you_mean(word, names, "")};
}

/// The stages that one word between commas means: "2", "2-4", "tiled", "til".
base::Result<std::vector<int>> stages_of(const Lab& lab, std::string_view word) {
  const auto dash = word.find('-');
  const auto first = as_number(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : as_number(word.substr(dash + 1));
  std::vector<int> numbers;
  if (first && last) {
    for (int number = *first; number <= *last; ++number) {
      if (lab.stage(number) == nullptr) return unknown_stage(lab, std::to_string(number));
      numbers.push_back(number);
    }
    if (numbers.empty()) return unknown_stage(lab, word);
    return numbers;
  }
  for (const Stage& stage : lab.stages) {
    if (stage.name == word || stage.kernel == word) return std::vector<int>{stage.number};
    if (!word.empty() && stage.name.starts_with(word)) numbers.push_back(stage.number);
  }
  if (numbers.size() != 1) return unknown_stage(lab, word);
  return numbers;
}

}  // namespace

std::optional<fs::path> find_root(fs::path start) {
  std::error_code ignored;
  start = fs::weakly_canonical(start, ignored);
  while (true) {
    if (fs::is_directory(start / "labs", ignored) &&
        fs::exists(start / "CMakePresets.json", ignored))
      return start;
    if (!start.has_relative_path()) return std::nullopt;
    start = start.parent_path();
  }
}

base::Result<Course> read_course(const fs::path& root) {
  Course course;
  course.root = root;
  std::error_code error;
  for (fs::directory_iterator entry(root / "labs", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const fs::path file = entry->path() / "lab.json";
    if (!fs::exists(file, ignored)) continue;
    auto lab = read_lab(file);
    if (!lab) return lab.error();
    course.labs.push_back(std::move(*lab));
  }
  if (error) {
    return base::Error{base::ErrorKind::kInput, (root / "labs").string(),
                       "cannot be read: " + error.message(), "the course's folder of labs", ""};
  }
  std::sort(course.labs.begin(), course.labs.end(), [](const Lab& a, const Lab& b) {
    return std::pair(number_of(a.id), a.id) < std::pair(number_of(b.id), b.id);
  });
  return course;
}

base::Result<const Lab*> Course::find(std::string_view word) const {
  const auto number = as_number(word);
  std::vector<const Lab*> fitting;
  std::vector<std::string> ids;
  for (const Lab& lab : labs) {
    if (lab.id == word || name_of(lab.id) == word || (number && number_of(lab.id) == *number))
      return &lab;
    if (word.empty() || number) continue;
    if (!lab.id.starts_with(word) && !name_of(lab.id).starts_with(word)) continue;
    fitting.push_back(&lab);
    ids.push_back(lab.id);
  }
  if (fitting.size() > 1) return several_labs(word, ids);
  if (fitting.empty()) return unknown_lab(*this, word);
  return fitting.front();
}

base::Result<Selection> select(const Course& course, std::string_view word) {
  // A path that the shell completed, "labs/03-transpose/", means the lab.
  if (word.starts_with("./")) word.remove_prefix(2);
  if (word.starts_with("labs/")) word.remove_prefix(5);
  while (word.ends_with('/')) word.remove_suffix(1);
  if (word.ends_with("/kernel.cu")) word.remove_suffix(10);
  const auto slash = word.find('/');
  const auto lab = course.find(word.substr(0, slash));
  if (!lab) return lab.error();
  Selection selection{*lab, {}};
  if (slash == std::string_view::npos) {
    for (const Stage& stage : (*lab)->stages) selection.stages.push_back(stage.number);
    return selection;
  }
  std::set<int> numbers;
  for (std::string_view rest = word.substr(slash + 1); true;) {
    const auto comma = rest.find(',');
    const auto some = stages_of(**lab, rest.substr(0, comma));
    if (!some) return some.error();
    numbers.insert(some->begin(), some->end());
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  selection.stages.assign(numbers.begin(), numbers.end());
  return selection;
}

base::Result<std::vector<Selection>> select_all(const Course& course,
                                                const std::vector<std::string>& words) {
  std::vector<Selection> all;
  for (const std::string& word : words) {
    auto selection = select(course, word);
    if (!selection) return selection.error();
    const auto same = std::find_if(all.begin(), all.end(), [&](const Selection& other) {
      return other.lab == selection->lab;
    });
    if (same == all.end()) {
      all.push_back(std::move(*selection));
      continue;
    }
    std::set<int> stages(same->stages.begin(), same->stages.end());
    stages.insert(selection->stages.begin(), selection->stages.end());
    same->stages.assign(stages.begin(), stages.end());
  }
  return all;
}

}  // namespace membound::course
