// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/lab_names.hpp"

#include "grader/classroom/intake/student_names.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::intake {

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

}  // namespace membound::intake
