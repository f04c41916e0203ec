// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <regex>

#include "grader/authoring/checks.hpp"
#include "grader/authoring/lines.hpp"
#include "grader/base/text_lines.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::authoring {
namespace {

bool opens_todo(const std::string& line) { return comment_of(line).starts_with("TODO"); }

// A TODO is its opening line and the comment lines that follow it: a student may replace them all.
std::vector<bool> mark_todos(const std::vector<std::string>& lines) {
  std::vector<bool> is_todo(lines.size(), false);
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    inside = opens_todo(lines[i]) || (inside && !comment_of(lines[i]).empty());
    is_todo[i] = inside;
  }
  return is_todo;
}

void check_todos(const course::Lab& lab, const std::string& file,
                 const std::vector<std::string>& lines, Drifts& drifts) {
  static const std::regex kForm(R"(TODO \d+ \((about )?\d+([-–]\d+)? lines?\): .+)");
  std::map<int, int> todos_of_stage;
  int stage = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const int head = course::stage_of_head(lines[i]); head != 0) stage = head;
    if (!opens_todo(lines[i])) continue;
    ++todos_of_stage[stage];
    if (!std::regex_match(std::string(comment_of(lines[i])), kForm)) {
      drifts.push_back({file, static_cast<int>(i) + 1, "this TODO does not say how long it is",
                        "\"TODO 2 (about 3 lines): a question or a nudge\"",
                        "count the lines of the reference answer"});
    }
  }
  for (const course::Stage& each : lab.stages) {
    if (todos_of_stage[each.number] > 0) continue;
    drifts.push_back({file, 0, "stage " + std::to_string(each.number) + " has no TODO",
                      "a head \"// Stage " + std::to_string(each.number) +
                          ": …\" and below it at least one TODO",
                      "leave something for the student to do"});
  }
}

}  // namespace

void check_skeleton(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const std::vector<std::string> skeleton = read_lines(folders.lab / "kernel.cu");
  const std::vector<std::string> solution = read_lines(folders.solution / "kernel.cu");
  const std::string file = folders.shown(folders.lab / "kernel.cu");
  check_todos(lab, file, skeleton, drifts);

  const std::vector<bool> is_todo = mark_todos(skeleton);
  std::size_t next = 0;
  for (std::size_t i = 0; i < skeleton.size(); ++i) {
    const std::string_view wanted = base::trimmed(skeleton[i]);
    if (wanted.empty() || is_todo[i]) continue;
    std::size_t at = next;
    while (at < solution.size() && base::trimmed(solution[at]) != wanted) ++at;
    if (at < solution.size()) {
      next = at + 1;
      continue;
    }
    drifts.push_back({file, static_cast<int>(i) + 1,
                      "the solution lacks this line: " + std::string(wanted),
                      "solving a lab only adds lines, so each line of the skeleton stands in " +
                          folders.shown(folders.solution / "kernel.cu") + ", in the same order",
                      "make the two lines equal, or turn the skeleton's into a TODO"});
  }
}

}  // namespace membound::authoring
