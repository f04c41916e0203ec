// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/course_tree.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "grader/base/files.hpp"
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

constexpr int kNoNumber = 1000;

/// "03-transpose" -> 3 and "transpose".
int number_of(const std::string& id) {
  return as_number(std::string_view(id).substr(0, id.find('-'))).value_or(kNoNumber);
}
std::string name_of(const std::string& id) {
  const auto dash = id.find('-');
  return dash == std::string::npos ? id : id.substr(dash + 1);
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
          "a number, a name or its beginning: " + base::joined(ids),
          did_you_mean(word, names, "membound list")};
}

base::Error several_labs(std::string_view word, const std::vector<std::string>& ids) {
  return {base::ErrorKind::kUsage, "", "\"" + std::string(word) + "\" fits several labs",
          "one of " + base::joined(ids), "write more letters, or the number"};
}

base::Error unknown_stage(const Lab& lab, std::string_view word) {
  std::vector<std::string> names;
  std::string list;
  for (const Stage& stage : lab.stages) {
    names.push_back(stage.name);
    base::add_word(list, std::to_string(stage.number) + " " + stage.name);
  }
  return {base::ErrorKind::kUsage, "",
          "lab " + lab.id + " has no stage \"" + std::string(word) + "\"", "one of " + list,
          did_you_mean(word, names, "membound list " + lab.id)};
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

fs::path own_copy(const fs::path& root, const fs::path& name) {
  fs::path own = root / kOwnCopies / name;
  std::error_code ignored;
  return fs::exists(own, ignored) ? own : root / name;
}

std::vector<std::string> changed_files(const fs::path& root,
                                       const std::vector<std::string>& below) {
  std::vector<std::string> changed;
  const fs::path own = root / kOwnCopies;
  for (const std::string& folder : below) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(own / folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (!entry->is_regular_file()) continue;
      const std::string name = entry->path().lexically_relative(own).generic_string();
      const auto copy = base::read_file(entry->path());
      const auto there = base::read_file(root / name);
      if (copy && (!there || *there != *copy)) changed.push_back(name);
    }
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

namespace {

/// Where `key` stands first: "labs/03-transpose/lab.json:3".
std::string line_of_key(const fs::path& file, const std::string& key) {
  std::ifstream lines(file);
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    if (++number; line.find("\"" + key + "\"") != std::string::npos)
      return file.string() + ":" + std::to_string(number);
  return file.string();
}

/// Adds the labs of one folder, in the order of their names.
base::Status read_labs(const fs::path& tree, bool is_course, Course& course) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(tree / "labs", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string name = "labs/" + entry->path().filename().string() + "/lab.json";
    if (const fs::path file = own_copy(tree, name); fs::exists(file, ignored))
      files.push_back(file);
  }
  if (error) {
    return base::Error{
        base::ErrorKind::kInput, (tree / "labs").string(), "cannot be read: " + error.message(),
        is_course ? "the course's folder of labs" : "labs/, with a folder for each lab",
        is_course ? "" : "membound dev new NN-NAME --labs " + tree.string()};
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    // Its folder is the student's, also where the course reads a copy of its own.
    auto text = base::read_file(file);
    auto lab = text ? lab_from_text(*std::move(text), file.string(),
                                    tree / "labs" / file.parent_path().filename())
                    : base::Result<Lab>(text.error());
    if (!lab) {
      course.broken.push_back({file.parent_path().filename().string(), lab.error()});
      continue;
    }
    if (!is_course) lab->tree = tree;
    course.labs.push_back(*std::move(lab));
  }
  return base::Done{};
}

/// Of labs with one number, or one name, the first stays.
void part_equal_numbers(Course& course) {
  std::vector<Lab> kept;
  for (Lab& lab : course.labs) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Lab& other) {
      return number_of(lab.id) != kNoNumber ? number_of(other.id) == number_of(lab.id)
                                            : other.id == lab.id;
    });
    if (same == kept.end()) {
      kept.push_back(std::move(lab));
      continue;
    }
    course.broken.push_back(
        {lab.id,
         {base::ErrorKind::kInput, line_of_key(lab.folder / "lab.json", "id"),
          "the number of " + lab.id + " is also that of " + same->folder.string(),
          "a number of its own for each lab", "rename the lab: its folders and its \"id\""}});
  }
  course.labs = std::move(kept);
}

}  // namespace

base::Result<Course> read_course(const fs::path& root, const std::vector<fs::path>& trees) {
  Course course;
  course.root = root;
  if (auto read = read_labs(root, true, course); !read) return read.error();
  for (const fs::path& tree : trees)
    if (auto read = read_labs(tree, false, course); !read) return read.error();
  part_equal_numbers(course);
  std::sort(course.labs.begin(), course.labs.end(), [](const Lab& a, const Lab& b) {
    return std::pair(number_of(a.id), a.id) < std::pair(number_of(b.id), b.id);
  });
  return course;
}

std::vector<fs::path> other_trees() {
  std::vector<fs::path> trees;
  const char* const text = std::getenv("MEMBOUND_LABS");
  std::istringstream folders(text == nullptr ? "" : text);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code ignored;
    const fs::path tree = fs::weakly_canonical(fs::absolute(folder, ignored), ignored);
    if (!folder.empty() && std::find(trees.begin(), trees.end(), tree) == trees.end())
      trees.push_back(tree);
  }
  return trees;
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
  for (const Broken& one : broken)
    if (fitting.empty() &&
        (one.id == word || name_of(one.id) == word || (number && number_of(one.id) == *number)))
      return one.why;
  if (fitting.empty()) return unknown_lab(*this, word);
  return fitting.front();
}

base::Result<Selection> select(const Course& course, std::string_view word) {
  // A path that the shell completed, "labs/03-transpose/", means the lab.
  if (word.starts_with("./")) word.remove_prefix(2);
  if (word.starts_with("labs/")) word.remove_prefix(5);
  while (word.ends_with('/')) word.remove_suffix(1);
  for (const std::string_view file : {kKernelFile, kAnswersFile, kWriteUpFile})
    if (word.ends_with("/" + std::string(file))) word.remove_suffix(file.size() + 1);
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
