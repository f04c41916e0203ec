// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <regex>

#include "grader/authoring/checks.hpp"
#include "grader/authoring/wrong_answer.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr int kLeastPerStage = 3;

// What is wrong with one; returns the stage it answers, 0 if that is none of the lab's.
int check_one(const course::Lab& lab, const WrongAnswer& answer, const std::string& file,
              const std::set<std::string>& tests, Drifts& drifts) {
  static const std::regex kName(R"(\d+-[a-z0-9-]+)");
  const int stage = answer.head.stage;
  if (lab.stage(stage) == nullptr) {
    drifts.push_back({file, 0, "its head names no stage of the lab", "\"Stage: 3\" at the head",
                      "name the stage it answers"});
  }
  if (!std::regex_match(answer.name, kName) ||
      !answer.name.starts_with(std::to_string(stage) + "-")) {
    drifts.push_back({file, 0, "the name does not start with the stage",
                      "<stage>-<what-is-wrong>.patch", "rename the file"});
  }
  if (!tests.contains(answer.head.fails)) {
    drifts.push_back({file, 0, "no test is called \"" + answer.head.fails + "\"",
                      "\"Fails: <a test of test.cpp or of the harness>\"",
                      "name the one test that must fail"});
  }
  const std::string& on_gpu = answer.head.fails_on_gpu;
  static const std::set<std::string> kEnds = {"", "passes", "fails", "chance"};
  if (!kEnds.contains(on_gpu) && !tests.contains(on_gpu)) {
    drifts.push_back({file, 0, "on a GPU it cannot end as \"" + on_gpu + "\"",
                      "passes, fails, chance, or a test of test.cpp",
                      "say what membound dev check --run --device gpu shows"});
  }
  if (answer.head.why.empty()) {
    drifts.push_back({file, 0, "it does not say why it is wrong", "\"Why:   …\" at the head",
                      "say in a sentence what the student believed"});
  }
  if (answer.lines > kMostLines) {
    drifts.push_back({file, 0, "its mistake takes " + std::to_string(answer.lines) + " lines",
                      "at most " + std::to_string(kMostLines) + ", so that one can read it",
                      "a patch of the reference answer with nothing but the mistake"});
  }
  return lab.stage(stage) == nullptr ? 0 : stage;
}

}  // namespace

void check_wrong_answers(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::set<std::string> tests = test_names(lab, folders);
  const fs::path folder = folders.solution / "wrong";
  std::map<int, int> answers_of_stage;
  for (const fs::path& file : wrong_answer_files(folders.solution)) {
    const auto answer = read_wrong_answer(file);
    if (answer) {
      ++answers_of_stage[check_one(lab, *answer, folders.shown(file), tests, drifts)];
    } else {
      const base::Error& error = answer.error();
      drifts.push_back({folders.shown(error.where), 0, error.found, error.expected, error.advice});
    }
  }
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
    const std::string kind = entry.path().extension();
    if (kind == ".patch" || kind == ".cu") continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no wrong answer is such a file",
                      "patches, and whole .cu files", "remove or move it"});
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
