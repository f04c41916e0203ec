// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grader/authoring/checks.hpp"
#include "grader/authoring/lines.hpp"
#include "grader/base/text_lines.hpp"
#include "grader/course/experiment.hpp"

namespace membound::authoring {
namespace {

bool is_heading(const std::string& line, const std::string& section) {
  const std::size_t marks = line.find_first_not_of('#');
  return marks > 0 && marks != std::string::npos && base::trimmed(line.substr(marks)) == section;
}

}  // namespace

void check_experiments(const LabFolders& folders, Drifts& drifts) {
  const std::string table = folders.shown(folders.handout / "experiments.json");
  std::vector<course::Experiment> all;
  if (const auto read = course::read_experiments_of(folders.handout, all); !read) {
    const base::Error& error = read.error();
    drifts.push_back({error.where.empty() ? table : folders.shown(error.where), 0, error.found,
                      error.expected, error.advice});
    return;
  }
  const std::vector<std::string> lines = read_lines(folders.handout / "handout.md");
  for (const course::Experiment& each : all) {
    const auto shows = [&](const auto& matches) {
      return std::any_of(lines.begin(), lines.end(), matches);
    };
    const std::string command = "membound experiment " + each.name;
    if (!shows([&](const std::string& line) { return is_heading(line, each.section); }))
      drifts.push_back({table, 0, each.name + " stands in no section \"" + each.section + "\"",
                        "a heading of the handout", "correct \"section\""});
    // Followed by no other word: "strides" is the beginning of "strides-wrapped".
    if (!shows([&](const std::string& line) {
          const std::size_t at = line.find(command);
          return at != std::string::npos && line.substr(at + command.size(), 1) != "-";
        }))
      drifts.push_back({table, 0, "the handout does not say how " + each.name + " is run",
                        "\"./" + command + "\"", "say it, and what to expect"});
  }
}

}  // namespace membound::authoring
