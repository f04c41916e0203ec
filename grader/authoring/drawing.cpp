// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing.hpp"

#include <functional>

#include "grader/authoring/drawing_shapes.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

constexpr std::size_t kMostStatements = 20'000;  // drawn, with repetitions

class Drawer {
 public:
  explicit Drawer(Board& board) : board_(board) {}

  void statements(const YAML::Node& list) {
    if (!list.IsSequence()) return board_.complain(list, "no list", "- SHAPE: {...}");
    for (const YAML::Node& each : list) statement(each);
  }

  /// Top-level "scales", "lists" and "set".
  void read_names(Fields& fields) {
    read_set(fields);
    for (const auto& entry : fields.node("lists"))
      for (const YAML::Node& value : entry.second)
        board_.names.lists[entry.first.Scalar()].push_back(board_.number(value));
    for (const auto& entry : fields.node("scales")) {
      Fields scale(entry.second, "scale", board_);
      const Point pixels = scale.pair("pixels"), values = scale.pair("values");
      board_.names.scales[entry.first.Scalar()] = {pixels.x, pixels.y, values.x, values.y,
                                                   scale.text("log", "no") == "yes"};
      scale.finish();
    }
  }

 private:
  /// Names for sums.
  void read_set(Fields& fields) {
    for (const auto& entry : fields.node("set"))
      board_.names.numbers[entry.first.Scalar()] = board_.number(entry.second);
  }

  /// One shape or list, for each row and each round of its repetition.
  void statement(const YAML::Node& node) {
    Fields fields(node, "statement", board_);
    // All at once: what is drawn no time has its fields all the same.
    for (const char* field : {"when", "set", "move", "draw"}) (void)fields.node(field);
    for (const Shape& each : shapes()) (void)fields.node(std::string(each.name));
    const YAML::Node rows = fields.node("each"), rounds = fields.node("repeat");
    const Names names = board_.names;
    if (!rows.IsDefined()) {
      repeat(fields, rounds);
    } else {
      for (const YAML::Node& row : rows) {
        for (const auto& entry : row) name(entry.first.Scalar(), entry.second);
        repeat(fields, rounds);
        board_.names = names;
      }
    }
    fields.finish();
  }

  /// What a row calls `name`: a number where it is written as one, else a word and, where it is a
  /// sum, its value.
  void name(const std::string& name, const YAML::Node& node) {
    const std::string text = board_.text(node);
    board_.names.words.erase(name);
    board_.names.numbers.erase(name);
    if (text.empty() || text.find_first_not_of("0123456789.-") != std::string::npos)
      board_.names.words[name] = text;
    if (const auto value = value_of(text, board_.names)) board_.names.numbers[name] = *value;
  }

  void repeat(Fields& fields, const YAML::Node& rounds) {
    std::vector<std::pair<std::string, int>> counts;
    if (rounds.IsDefined())
      for (const auto& entry : rounds)
        counts.emplace_back(entry.first.Scalar(), static_cast<int>(board_.number(entry.second)));
    const Names names = board_.names;
    const std::function<void(std::size_t)> rounds_from = [&](std::size_t depth) {
      if (depth == counts.size()) return shape(fields);
      for (int i = 0; i < counts[depth].second && !board_.mistake(); ++i) {
        board_.names.numbers[counts[depth].first] = i;
        rounds_from(depth + 1);
      }
    };
    rounds_from(0);
    board_.names = names;
  }

  void shape(Fields& fields) {
    read_set(fields);
    if (fields.has("when") && fields.number("when") == 0) return;
    if (++drawn_ > kMostStatements)
      return board_.complain(fields.map(), "too much to draw",
                             report::amount(kMostStatements) + " statements");
    const Point origin = board_.origin;
    const Point move = fields.pair("move", {});
    board_.origin = {origin.x + move.x, origin.y + move.y};
    int kinds = 0;
    if (fields.has("draw")) {
      ++kinds;
      statements(fields.node("draw"));
    }
    for (const Shape& each : shapes()) {
      const std::string name(each.name);
      if (!fields.has(name)) continue;
      ++kinds;
      Fields inner(fields.node(name), name, board_);
      each.draw(inner, board_);
      inner.finish();
    }
    if (kinds != 1) {
      fields.finish();  // a word that is no shape says more
      std::vector<std::string> names = {"draw"};
      for (const Shape& each : shapes()) names.emplace_back(each.name);
      board_.complain(fields.map(), "a statement of " + std::to_string(kinds) + " shapes",
                      "one of " + report::listed(names));
    }
    board_.origin = origin;
  }

  Board& board_;
  std::size_t drawn_ = 0;
};

}  // namespace

base::Result<std::string> draw_description(const std::string& text, const std::string& name) {
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return base::Error{base::ErrorKind::kInput, name + ":" + std::to_string(error.mark.line + 1),
                       error.msg, "YAML", "docs/drawing_figures.md"};
  }
  Board unsized({});
  Fields head(root, "figure", unsized);
  const Point size = head.pair("size");
  Board board(size);
  Fields fields(root, "figure", board);
  board.svg = report::Svg(size.x, fields.text("title", ""), fields.text("desc", ""));
  for (const char* field : {"title", "desc", "size"}) (void)fields.needed(field);
  Drawer drawer(board);
  drawer.read_names(fields);
  if (fields.has("heading"))
    board.label(fields.node("heading"), {{20, 28}, 14, "ink bold"}, fields.text("heading", ""));
  drawer.statements(fields.needed("draw"));
  fields.finish();
  std::optional<base::Error> mistake = unsized.mistake() ? unsized.mistake() : board.mistake();
  if (mistake) {
    mistake->where.insert(0, name + ":");
    return *mistake;
  }
  board.svg.add_looks(css_of(board.roles()));
  return board.svg.finish(size.y, true);
}

}  // namespace membound::authoring
