// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drift.hpp"

#include "grader/authoring/checks.hpp"
#include "grader/authoring/predicted_figures.hpp"
#include "grader/base/error.hpp"

namespace membound::authoring {

std::string to_string(const Drift& drift) {
  base::Error error{.kind = base::ErrorKind::kInput};
  error.where = drift.line > 0 ? drift.file + ":" + std::to_string(drift.line) : drift.file;
  error.found = drift.found;
  error.expected = drift.expected;
  error.advice = drift.advice;
  return base::to_string(error);
}

LabFolders::LabFolders(const course::Lab& lab_, const std::filesystem::path& root_)
    : root(root_),
      lab(root_ / "labs" / lab_.id),
      solution(root_ / "solutions" / lab_.id),
      handout(root_ / "handouts" / lab_.id) {}

std::string LabFolders::shown(const std::filesystem::path& file) const {
  return file.lexically_relative(root).generic_string();
}

std::vector<Drift> check_lab(const course::Lab& lab, const std::filesystem::path& root) {
  const LabFolders folders(lab, root);
  std::vector<Drift> drifts;
  check_files(lab, folders, drifts);
  check_skeleton(lab, folders, drifts);
  check_hints(lab, folders, drifts);
  check_counter_bars(lab, folders, drifts);
  check_wrong_answers(lab, folders, drifts);
  check_experiments(folders, drifts);
  check_handout(folders, drifts);
  for (Drift& drift : check_predicted_texts(lab.id, root)) drifts.push_back(std::move(drift));
  return drifts;
}

}  // namespace membound::authoring
