// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_fields.hpp"

#include "grader/report/text.hpp"

namespace membound::authoring {

Point pair_of(const YAML::Node& node, Board& board) {
  if (node.IsSequence() && node.size() == 2) return {board.number(node[0]), board.number(node[1])};
  board.complain(node, "no pair of numbers", "[x, y]");
  return {};
}

Fields::Fields(const YAML::Node& map, std::string what, Board& board)
    : map_(map), what_(std::move(what)), board_(board) {
  if (map_.IsMap()) return;
  board_.complain(map_, what_ + " without fields", what_ + ": {...}");
  map_ = YAML::Node(YAML::NodeType::Map);
}

YAML::Node Fields::node(const std::string& name) {
  asked_.insert(name);
  return map_[name];
}

YAML::Node Fields::needed(const std::string& name) {
  const YAML::Node found = node(name);
  if (!found.IsDefined())
    board_.complain(map_, what_ + " without \"" + name + "\"", name + ": ...");
  return found.IsDefined() ? found : YAML::Node("0");
}

YAML::Node Fields::several(const std::string& name, bool is_list) {
  const YAML::Node found = node(name);
  if (found.IsDefined() && (is_list ? found.IsSequence() : found.IsMap())) return found;
  if (found.IsDefined())
    board_.complain(found, "\"" + name + "\" is no " + (is_list ? "list" : "map"),
                    is_list ? "[..., ...]" : "{NAME: ..., ...}");
  return YAML::Node(is_list ? YAML::NodeType::Sequence : YAML::NodeType::Map);
}

double Fields::number(const std::string& name) { return board_.number(needed(name)); }
double Fields::number(const std::string& name, double fallback) {
  return has(name) ? number(name) : fallback;
}

Point Fields::pair(const std::string& name) { return pair_of(needed(name), board_); }
Point Fields::pair(const std::string& name, Point fallback) {
  return has(name) ? pair(name) : fallback;
}

Point Fields::place(const std::string& name) {
  const Point point = pair(name);
  return {board_.origin.x + point.x, board_.origin.y + point.y};
}

std::string Fields::text(const std::string& name, const std::string& fallback) {
  return has(name) ? board_.text(node(name)) : fallback;
}

std::vector<std::string> Fields::lines(const std::string& name) {
  const YAML::Node found = needed(name);
  if (!found.IsSequence()) return {board_.text(found)};
  std::vector<std::string> all;
  for (const YAML::Node& line : found) all.push_back(board_.text(line));
  return all;
}

void Fields::finish() {
  for (const auto& entry : map_) {
    if (asked_.contains(entry.first.Scalar())) continue;
    board_.complain(entry.first, "the field \"" + entry.first.Scalar() + "\" of " + what_,
                    report::listed({asked_.begin(), asked_.end()}));
  }
}

}  // namespace membound::authoring
