// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <regex>

#include "grader/authoring/checks.hpp"
#include "grader/authoring/lines.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr int kLeastPerStage = 3;

/// The text after "// key: " among the comments that open a file.
std::optional<std::string> head_field(const std::vector<std::string>& lines,
                                      const std::string& key) {
  for (const std::string& line : lines) {
    if (!line.starts_with("//")) return std::nullopt;
    const std::string_view comment = comment_of(line);
    if (!comment.starts_with(key + ":")) continue;
    return std::string(trimmed(comment.substr(key.size() + 1)));
  }
  return std::nullopt;
}

int number_in(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The stage a wrong answer names, 0 if it names none of the lab's.
int check_one(const course::Lab& lab, const std::string& name, const std::string& file,
              const std::vector<std::string>& lines, const std::set<std::string>& tests,
              Drifts& drifts) {
  static const std::regex kName(R"(\d+-[a-z0-9-]+\.cu)");
  const std::string stage_text = head_field(lines, "Stage").value_or("");
  const int stage = number_in(stage_text);
  if (lab.stage(stage) == nullptr) {
    drifts.push_back({file, 0, "stage \"" + stage_text + "\" is not one of the lab's",
                      "\"// Stage: 3\" at the head", "name the stage it answers"});
  }
  if (!std::regex_match(name, kName) || number_in(name) != stage) {
    drifts.push_back({file, 0, "the name does not start with the stage",
                      "<stage>-<what-is-wrong>.cu", "rename the file"});
  }
  const std::string test = head_field(lines, "Fails").value_or("");
  if (!tests.contains(test)) {
    drifts.push_back({file, 0, "no test is called \"" + test + "\"",
                      "\"// Fails: <a test of test.cpp or of the harness>\"",
                      "name the one test that must fail"});
  }
  if (head_field(lines, "Why").value_or("").empty()) {
    drifts.push_back({file, 0, "it does not say why it is wrong", "\"// Why:   …\" at the head",
                      "say in a sentence what the student believed"});
  }
  return stage;
}

}  // namespace

void check_wrong_answers(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::set<std::string> tests = test_names(lab, folders);
  const fs::path folder = folders.solution / "wrong";
  std::vector<fs::path> files;
  std::error_code unreadable;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, unreadable)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());

  std::map<int, int> answers_of_stage;
  for (const fs::path& file : files) {
    ++answers_of_stage[check_one(lab, file.filename().string(), folders.shown(file),
                                 read_lines(file), tests, drifts)];
  }
  for (const course::Stage& stage : lab.stages) {
    const int count = answers_of_stage[stage.number];
    if (count >= kLeastPerStage) continue;
    drifts.push_back({folders.shown(folder), 0,
                      "stage " + std::to_string(stage.number) + " has " + std::to_string(count) +
                          " wrong answers",
                      "at least " + std::to_string(kLeastPerStage),
                      "add mistakes you have seen students make"});
  }
}

}  // namespace membound::authoring
