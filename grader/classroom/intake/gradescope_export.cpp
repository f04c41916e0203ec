// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/gradescope_export.hpp"

#include <yaml-cpp/yaml.h>

#include "grader/classroom/intake/late.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

YAML::Node field(const YAML::Node& node, const std::string& name) {
  if (!node.IsMap()) return {};
  for (const std::string& key : {":" + name, name})
    if (const YAML::Node found = node[key]) return found;
  return {};
}

std::string text_of(const YAML::Node& node) {
  return node && node.IsScalar() ? normal(node.Scalar()) : "";
}

}  // namespace

std::vector<GradescopeSubmission> read_metadata(const std::string& yaml) {
  std::vector<GradescopeSubmission> all;
  try {
    const YAML::Node root = YAML::Load(yaml);
    if (!root.IsMap()) return all;
    for (const auto& entry : root) {
      GradescopeSubmission submission;
      submission.folder = text_of(entry.first);
      submission.time = parse_time(text_of(field(entry.second, "created_at"))).value_or(0);
      const YAML::Node submitters = field(entry.second, "submitters");
      if (submitters && submitters.IsSequence()) {
        for (const YAML::Node& one : submitters)
          submission.students.push_back({text_of(field(one, "name")), text_of(field(one, "sid")),
                                         text_of(field(one, "email"))});
      }
      all.push_back(std::move(submission));
    }
  } catch (const YAML::Exception&) {
    all.clear();  // not what Gradescope writes: the folders' names have to do
  }
  return all;
}

}  // namespace membound::intake
