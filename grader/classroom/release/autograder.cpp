// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/autograder.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace membound::release {
namespace {

/// Nobody reads there.
constexpr std::array<std::string_view, 4> kTexts = {"handouts/", "docs/", ".github/", "README.md"};

bool is_text_for_people(const std::string& name) {
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

// The files are moved, which clang-tidy does not see.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
base::Result<Tree> autograder_tree(const ReleaseRequest& request, Tree students,
                                   const AutograderOptions& options) {
  Tree tree;
  for (auto& [name, file] : students)
    if (!is_text_for_people(name)) tree["course/" + name] = std::move(file);
  const std::map<std::string, std::string> values = {{"device", options.device},
                                                     {"compiler", options.compiler},
                                                     {"lab", options.lab},
                                                     {"seconds", std::to_string(options.seconds)}};
  for (const std::string name : {"setup.sh", "run_autograder"}) {
    auto script = filled_template(request, name, values);
    if (!script) return script.error();
    tree[name] = {*std::move(script), true};
  }
  return tree;
}

}  // namespace membound::release
