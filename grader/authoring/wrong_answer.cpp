// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/wrong_answer.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <regex>
#include <system_error>

#include "grader/authoring/lab_check.hpp"
#include "grader/authoring/patch.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// The lines of the head without "//", and how far it goes.
struct HeadLines {
  std::vector<std::string> lines;
  std::size_t end = 0;
};

/// A patch's head ends with its first hunk, a whole file's with its first line of code.
HeadLines head_of(std::string_view text, bool is_patch) {
  HeadLines head;
  while (head.end < text.size()) {
    const std::string_view rest = text.substr(head.end);
    std::string_view line = rest.substr(0, rest.find('\n'));
    if (is_patch ? line.starts_with("@@") : !line.starts_with("//")) break;
    head.end = std::min(head.end + line.size() + 1, text.size());
    if (!is_patch) line.remove_prefix(2);
    head.lines.emplace_back(line);
  }
  return head;
}

/// The text after "key:", and of the lines below it that are indented deeper than a key.
std::string field_of(const HeadLines& head, const std::string& key) {
  std::string text;
  bool inside = false;
  for (const std::string& line : head.lines) {
    std::string_view words = base::trimmed(line);
    if (words.starts_with(key + ":")) {
      inside = true;
      words = base::trimmed(words.substr(key.size() + 1));
    } else if (inside && !line.starts_with("    ")) {
      break;
    }
    if (inside) text += (text.empty() ? "" : " ") + std::string(words);
  }
  return text;
}

}  // namespace

std::vector<fs::path> wrong_answer_files(const fs::path& solution) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(solution / "wrong", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".patch" || entry->path().extension() == ".cu")
      files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

base::Result<std::string> reference_text(const fs::path& solution) {
  const auto kernel = base::read_file(solution / course::kKernelFile);
  if (!kernel) return kernel.error();
  std::map<std::string, std::string> beside;
  const std::string answers(course::kAnswersFile);
  if (auto text = base::read_file(solution / answers)) beside[answers] = *std::move(text);
  return course::joined_submission(*kernel, beside);
}

base::Result<WrongAnswer> read_wrong_answer(const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const bool is_patch = file.extension() == ".patch";
  const HeadLines head = head_of(*text, is_patch);
  WrongAnswer answer{file.stem().string(), file, {}, *text, 0};
  const std::string stage = field_of(head, "Stage");
  std::from_chars(stage.data(), stage.data() + stage.size(), answer.head.stage);
  answer.head.fails = field_of(head, "Fails");
  answer.head.fails_on_gpu = field_of(head, "On a GPU");
  answer.head.finds = field_of(head, "Finds");
  answer.head.why = field_of(head, "Why");
  const std::string_view body = std::string_view(*text).substr(head.end);
  if (!is_patch) {
    answer.lines = static_cast<int>(std::count(body.begin(), body.end(), '\n'));
    return answer;
  }
  const auto reference = reference_text(file.parent_path().parent_path());
  if (!reference) return reference.error();
  auto patched =
      apply_diff(*reference, body, file.string(), static_cast<int>(head.lines.size()) + 1);
  if (!patched) return patched.error();
  answer.text = std::move(patched->text);
  answer.lines = patched->changed_lines;
  return answer;
}

base::Result<std::vector<WrongAnswer>> read_wrong_answers(const fs::path& solution) {
  std::vector<WrongAnswer> answers;
  for (const fs::path& file : wrong_answer_files(solution)) {
    auto answer = read_wrong_answer(file);
    if (!answer) return answer.error();
    answers.push_back(std::move(*answer));
  }
  return answers;
}

base::Result<WrongAnswer> find_wrong_answer(const fs::path& solution, const std::string& name) {
  std::vector<std::string> names;
  for (const fs::path& file : wrong_answer_files(solution)) {
    if (file.stem() == name) return read_wrong_answer(file);
    names.push_back(file.stem().string());
  }
  const std::string lab = solution.filename().string();
  const auto alike = base::nearest(name, names);
  return base::Error{
      base::ErrorKind::kUsage, "", lab + " has no wrong answer \"" + name + "\"",
      std::to_string(names.size()) + " names, as \"membound dev wrong " + lab + "\" lists them",
      alike ? "did you mean \"" + *alike + "\"?" : "membound dev wrong " + lab};
}

std::set<std::string> tests_by_some_blocks(const fs::path& test_source) {
  static const std::regex kTest(
      R"(LAB_TEST_AFTER_TIMING\(\s*\w+\s*,\s*(\w+)[^]{0,999}?far_blocks\()");
  std::set<std::string> names;
  const auto text = base::read_file(test_source);
  if (!text) return names;
  for (std::sregex_iterator it(text->begin(), text->end(), kTest), end; it != end; ++it)
    names.insert((*it)[1].str());
  return names;
}

base::Result<fs::path> write_kernel(const WrongAnswer& answer, const fs::path& folder) {
  const fs::path file = folder / (answer.name + ".cu");
  if (const auto written = base::write_file(file, answer.text); !written) return written.error();
  return file;
}

namespace {

bool is_of_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

std::string with_names_turned(std::string_view kernel, const std::vector<std::string>& names,
                              std::size_t by) {
  std::string text;
  for (auto at = kernel.begin(); at != kernel.end();) {
    const auto end = std::find_if_not(at, kernel.end(), is_of_a_word);
    const std::string_view word(at, end);
    const auto name = std::find(names.begin(), names.end(), word);
    if (name == names.end()) {
      text += word;
    } else {
      const auto place = static_cast<std::size_t>(name - names.begin());
      text += names[(place + by) % names.size()];
    }
    at = end;
    if (at != kernel.end()) text += *at++;
  }
  return text;
}

}  // namespace membound::authoring
