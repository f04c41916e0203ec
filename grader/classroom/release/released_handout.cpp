// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/released_handout.hpp"

namespace membound::release {

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
  for (auto file = tree.lower_bound(folder);
       file != tree.end() && file->first.starts_with(folder);) {
    const std::string name = file->first.substr(file->first.rfind('/') + 1);
    const bool named = file == handout || kept.find(name) != std::string::npos;
    file = named ? std::next(file) : tree.erase(file);
  }
}

}  // namespace membound::release
