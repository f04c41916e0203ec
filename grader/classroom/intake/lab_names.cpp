// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/lab_names.hpp"

#include "grader/classroom/intake/student_names.hpp"

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
  std::string known;
  for (const course::Lab& lab : labs) known += (known.empty() ? "" : ", ") + lab.id;
  return base::Error{base::ErrorKind::kInput, where, "\"" + shown(name, 60) + "\" is no lab",
                     "one of " + known, "write the lab's id or its name"};
}

}  // namespace membound::intake
