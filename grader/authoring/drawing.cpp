// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing.hpp"

#include <functional>

#include "grader/authoring/drawing_shapes.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/text_files.hpp"
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

  /// Top-level "facts", "set", "lists" and "scales".
  void read_names(Fields& fields, const std::filesystem::path& root) {
    for (const auto& entry : fields.several("facts")) {
      Fields fact(entry.second, "fact", board_);
      name(entry.first.Scalar(), cell(fact, root));
      fact.finish();
    }
    read_set(fields);
    for (const auto& entry : fields.several("lists"))
      for (const YAML::Node& value : entry.second)
        board_.names.lists[entry.first.Scalar()].push_back(board_.number(value));
    for (const auto& entry : fields.several("scales")) {
      Fields scale(entry.second, "scale", board_);
      const Point pixels = scale.pair("pixels"), values = scale.pair("values");
      board_.names.scales[entry.first.Scalar()] = {pixels.x, pixels.y, values.x, values.y,
                                                   scale.text("log", "no") == "yes"};
      scale.finish();
    }
  }

 private:
  /// The cell of a table of the course: `row` is what its first column holds.
  std::string cell(Fields& fact, const std::filesystem::path& root) {
    const std::string file = fact.text("table", ""), row = fact.text("row", "");
    const std::string column = fact.text("column", "");
    const auto text = base::read_file(root / file);
    const auto table =
        text ? base::read_csv(*text, file) : base::Result<base::CsvTable>(text.error());
    if (!table) return board_.complain(fact.map(), base::to_string(table.error()), "a table"), "";
    if (const auto place = table->column(column))
      for (const std::vector<std::string>& cells : table->rows)
        if (cells.front() == row) return cells[*place];
    board_.complain(fact.map(), file + " has no \"" + row + "\" with \"" + column + "\"",
                    "a row's first cell, and one of: " + report::listed(table->header));
    return "";
  }

  /// Names for sums.
  void read_set(Fields& fields) {
    for (const auto& entry : fields.several("set"))
      board_.names.numbers[entry.first.Scalar()] = board_.number(entry.second);
  }

  /// One shape or list, for each row and each round of its repetition.
  void statement(const YAML::Node& node) {
    Fields fields(node, "statement", board_);
    // All at once: what is drawn no time has its fields all the same.
    for (const char* field : {"when", "set", "move", "draw"}) (void)fields.node(field);
    for (const Shape& each : shapes()) (void)fields.node(std::string(each.name));
    const YAML::Node rows = fields.node("each"), rounds = fields.several("repeat");
    const Names names = board_.names;
    if (!rows.IsDefined()) {
      repeat(fields, rounds);
    } else {
      for (const YAML::Node& row : fields.several("each", true)) {
        if (!row.IsMap()) board_.complain(row, "a row that is no map", "{NAME: value, ...}");
        for (const auto& entry : row) name(entry.first.Scalar(), board_.text(entry.second));
        repeat(fields, rounds);
        board_.names = names;
      }
    }
    fields.finish();
  }

  /// What a row or a fact calls `name`: a number where it is written as one, else a word and, where
  /// it is a sum, its value.
  void name(const std::string& name, const std::string& text) {
    board_.names.words.erase(name);
    board_.names.numbers.erase(name);
    if (text.empty() || text.find_first_not_of("0123456789.-") != std::string::npos)
      board_.names.words[name] = text;
    if (const auto value = value_of(text, board_.names)) board_.names.numbers[name] = *value;
  }

  void repeat(Fields& fields, const YAML::Node& rounds) {
    std::vector<std::pair<std::string, int>> counts;
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

base::Result<std::string> draw_document(const YAML::Node& document, const std::string& name,
                                        const std::filesystem::path& root) {
  Board unsized({});
  Fields head(document, "figure", unsized);
  const Point size = head.pair("size");
  Board board(size);
  Fields fields(document, "figure", board);
  board.svg = report::Svg(size.x, fields.text("title", ""), fields.text("desc", ""));
  for (const char* field : {"title", "desc", "size"}) (void)fields.needed(field);
  Drawer drawer(board);
  drawer.read_names(fields, root);
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

}  // namespace

base::Result<std::string> draw_description(const std::string& text, const std::string& name,
                                           const std::filesystem::path& root) {
  try {
    return draw_document(YAML::Load(text), name, root);
  } catch (const YAML::Exception& error) {  // of a list where a map is meant, too
    return base::Error{base::ErrorKind::kInput, name + ":" + std::to_string(error.mark.line + 1),
                       error.msg, "YAML", "docs/drawing_figures.md"};
  }
}

}  // namespace membound::authoring
