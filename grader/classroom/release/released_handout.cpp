// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/released_handout.hpp"

#include <nlohmann/json.hpp>
#include <set>

namespace membound::release {
namespace {

/// Whether the text says how this experiment is run: "strides" begins "strides-wrapped", too.
bool says_how_to_run(const std::string& text, const std::string& experiment) {
  const std::string command = "membound experiment " + experiment;
  for (auto at = text.find(command); at != std::string::npos; at = text.find(command, at + 1))
    if (text.substr(at + command.size(), 1) != "-") return true;
  return false;
}

/// Leaves the rows of experiments.json that `kept` says how to run; the files that are kept of it.
std::set<std::string> keep_experiments(Tree& tree, const std::string& folder,
                                       const std::string& kept) {
  const auto table = tree.find(folder + "experiments.json");
  if (table == tree.end()) return {};
  std::set<std::string> files;
  auto left = nlohmann::ordered_json::array();
  for (const auto& row : nlohmann::ordered_json::parse(table->second.bytes)) {
    if (!says_how_to_run(kept, row.at("name"))) continue;
    files.insert(row.at("file").get<std::string>());
    left.push_back(row);
  }
  if (!left.empty()) files.insert("experiments.json");
  table->second.bytes = left.dump(2) + "\n";
  return files;
}

}  // namespace

std::string student_handout(const std::string& text) {
  const std::string heading = std::string("\n") + kAfterwards;
  const auto end = text.find(heading);
  if (end == std::string::npos) return text;
  return text.substr(0, end + 1) + kAfterwards +
         "\n\nThe rest of this text explains the reference answers. You get it from your "
         "instructor "
         "when the\nlab is over.\n";
}

void shorten_handout(Tree& tree, const std::string& lab) {
  const std::string folder = "handouts/" + lab + "/";
  const auto handout = tree.find(folder + "handout.md");
  if (handout == tree.end()) return;
  const std::string whole = handout->second.bytes;
  handout->second.bytes = student_handout(whole);
  const std::string& kept = handout->second.bytes;
  if (kept == whole) return;
  const std::set<std::string> of_experiments = keep_experiments(tree, folder, kept);
  for (auto file = tree.lower_bound(folder);
       file != tree.end() && file->first.starts_with(folder);) {
    const std::string name = file->first.substr(file->first.rfind('/') + 1);
    const bool named =
        file == handout || kept.find(name) != std::string::npos || of_experiments.contains(name);
    file = named ? std::next(file) : tree.erase(file);
  }
}

}  // namespace membound::release
