// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "grader/authoring/drawing_board.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/files.hpp"
#include "grader/base/older_systems.hpp"
#include "grader/base/strings.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

/// One kind of shape: its name in a description, and what draws it.
struct Shape {
  std::string_view name;
  void (*draw)(Fields& fields, Board& board);
};

using report::coordinate;

/// The look of a text that stands in a box of this look.
std::string look_within(const std::string& box) {
  if (box.find("full") != std::string::npos) return "onfull";
  return box.starts_with("idle") ? "faint" : "ink";
}

/// Lines of text around the middle of a box; `at` and `size` from the board's origin on.
void write_within(Board& board, const YAML::Node& where, Point at, Point size, Label label,
                  const std::vector<std::string>& lines) {
  label.anchor = "middle";
  const double step = 1.25 * label.size;
  double y =
      at.y + size.y / 2 + 0.36 * label.size - step * static_cast<double>(lines.size() - 1) / 2;
  for (const std::string& line : lines) {
    if (width_of(line, label.size, label.look) > size.x + 2)
      board.complain(where, "\"" + line + "\" is wider than its box",
                     "fewer letters or a wider box");
    label.at = {at.x + size.x / 2, y};
    board.label(where, label, line);
    y += step;
  }
}

void draw_text(Fields& fields, Board& board) {
  Label label{fields.pair("at"), fields.number("size", 12), fields.text("look", "ink"),
              fields.text("anchor", "start"), fields.text("up", "no") == "yes"};
  if (label.anchor != "start" && label.anchor != "middle" && label.anchor != "end")
    board.complain(fields.map(), "the anchor " + label.anchor, "start, middle or end");
  const double step = fields.number("step", 1.4 * label.size);
  for (const std::string& line : fields.lines("is")) {
    board.label(fields.map(), label, line);
    label.at.y += step;
  }
}

void draw_box(Fields& fields, Board& board) {
  const Point at = fields.place("at"), size = fields.pair("size");
  const std::string look = fields.text("look", "blank");
  board.svg.box(at.x, at.y, size.x, size.y, board.look(fields.map(), look, "box"),
                fields.number("round", 0));
  const Label label{
      {}, fields.number("text_size", 12), fields.text("text_look", look_within(look))};
  if (fields.has("is"))
    write_within(board, fields.map(), fields.pair("at"), size, label, fields.lines("is"));
}

/// The look of a cell: that of the last condition in `looks` that holds.
std::string look_of_cell(Fields& fields, Board& board) {
  std::string look = fields.text("look", "blank");
  if (!fields.has("looks")) return look;
  for (const auto& entry : fields.several("looks"))
    if (board.number(entry.second) != 0) look = entry.first.Scalar();
  return look;
}

/// Cells in columns and rows. Within, `col`, `row` and `i`, the number along rows, have values.
void draw_grid(Fields& fields, Board& board) {
  const Point at = fields.pair("at"), cells = fields.pair("cells"), cell = fields.pair("cell");
  const Point gap = fields.pair("gap", {});
  const YAML::Node of = fields.several("of", true), is = fields.node("is"),
                   only = fields.node("only");
  const double round = fields.number("round", 0), text_size = fields.number("text_size", 12);
  const auto count = cells.x * cells.y;
  if (!(count >= 1 && count <= 4096))
    return board.complain(fields.map(), "a grid of " + report::amount(count) + " cells",
                          "1 to 4,096");
  if (of.size() > 0 && static_cast<double>(of.size()) != count)
    board.complain(of, base::counted(of.size(), "text"),
                   "one for each cell: " + report::amount(count));
  const Names outer = board.names;
  for (int i = 0; i < count; ++i) {
    const int columns = static_cast<int>(cells.x), col = i % columns, row = i / columns;
    board.names.numbers["i"] = i;
    board.names.numbers["col"] = col;
    board.names.numbers["row"] = row;
    if (only.IsDefined() && board.number(only) == 0) continue;
    const Point corner{at.x + col * (cell.x + gap.x), at.y + row * (cell.y + gap.y)};
    const std::string look = look_of_cell(fields, board);
    board.svg.box(board.origin.x + corner.x, board.origin.y + corner.y, cell.x, cell.y,
                  board.look(fields.map(), look, "box"), round);
    const Label label{{}, text_size, fields.text("text_look", look_within(look))};
    const YAML::Node& text = of.size() > 0 ? of[i] : is;
    if (text.IsDefined()) write_within(board, text, corner, cell, label, {board.text(text)});
  }
  board.names = outer;
}

/// A head of 8 pixels that ends at `tip`; gives back where the line ends.
Point draw_head(Board& board, Point from, Point tip, const std::string& look) {
  constexpr double kLength = 8, kHalf = 3.7;
  const double length = base::hypotenuse(tip.x - from.x, tip.y - from.y);
  const Point along{(tip.x - from.x) / length, (tip.y - from.y) / length};
  const Point foot{tip.x - kLength * along.x, tip.y - kLength * along.y};
  board.svg.path(
      "M" + coordinate(tip.x) + " " + coordinate(tip.y) + "L" +
          coordinate(foot.x - kHalf * along.y) + " " + coordinate(foot.y + kHalf * along.x) + "L" +
          coordinate(foot.x + kHalf * along.y) + " " + coordinate(foot.y - kHalf * along.x) + "z",
      look);
  return foot;
}

void draw_path(Fields& fields, Board& board, bool has_head) {
  std::vector<Point> points;
  if (fields.has("through")) {
    for (const YAML::Node& each : fields.several("through", true)) {
      const Point point = pair_of(each, board);
      points.push_back({board.origin.x + point.x, board.origin.y + point.y});
    }
  } else {
    points = {fields.place("from"), fields.place("to")};
  }
  if (points.size() < 2) return board.complain(fields.map(), "one point", "two or more");
  const std::string words = fields.text("look", "ink");
  const std::string look = board.look(fields.map(), words, "line");
  if (has_head && base::hypotenuse(points.back().x - points[points.size() - 2].x,
                                   points.back().y - points[points.size() - 2].y) < 9)
    return board.complain(fields.map(), "an arrow shorter than its head", "9 pixels or more");
  if (has_head)
    points.back() = draw_head(board, points[points.size() - 2], points.back(),
                              words.substr(0, words.find(' ')) + "-text");
  if (points.size() == 2)
    return board.svg.line(points[0].x, points[0].y, points[1].x, points[1].y, look);
  std::string d;
  for (const Point& point : points)
    d += (d.empty() ? "M" : "L") + coordinate(point.x) + " " + coordinate(point.y);
  board.svg.path(d, look);
}

void draw_line(Fields& fields, Board& board) { draw_path(fields, board, false); }
void draw_arrow(Fields& fields, Board& board) { draw_path(fields, board, true); }

void draw_circle(Fields& fields, Board& board) {
  const Point at = fields.place("at");
  const double radius = fields.number("radius");
  const std::string look = fields.text("look", "blank");
  board.svg.circle(at.x, at.y, radius, board.look(fields.map(), look, "box"));
  if (!fields.has("is")) return;
  const Point middle = fields.pair("at");
  write_within(board, fields.map(), {middle.x - radius, middle.y - radius},
               {2 * radius, 2 * radius},
               {{}, fields.number("text_size", 12), fields.text("text_look", look_within(look))},
               fields.lines("is"));
}

/// Small boxes from left to right, each with what its look stands for.
void draw_legend(Fields& fields, Board& board) {
  Point at = fields.pair("at");
  const double size = fields.number("text_size", 12), gap = fields.number("gap", 22);
  for (const auto& entry : fields.several("items")) {
    const std::string text = board.text(entry.second);
    board.svg.box(board.origin.x + at.x, board.origin.y + at.y - 10, 12, 12,
                  board.look(entry.first, entry.first.Scalar(), "box"));
    board.label(entry.second, {{at.x + 18, at.y}, size, "faint"}, text);
    at.x += 18 + width_of(text, size, "") + gap;
  }
}

/// Ticks and their labels along a scale, and lines across the picture if `across` says from where
/// to where.
void draw_axis(Fields& fields, Board& board) {
  const std::string name = fields.text("scale", "");
  const auto found = board.names.scales.find(name);
  if (found == board.names.scales.end())
    return board.complain(fields.map(), "an axis of the scale \"" + name + "\"",
                          "one of \"scales\"");
  const Scale& scale = found->second;
  const bool is_upright = fields.text("upright", "no") == "yes";
  const double at = fields.number("at"), size = fields.number("text_size", 11.5);
  const Point across = fields.pair("across", {});
  const auto place = [&](double along, double aside) {
    return is_upright ? Point{aside, along} : Point{along, aside};
  };
  const auto line = [&](Point from, Point to, const std::string& look) {
    board.svg.line(board.origin.x + from.x, board.origin.y + from.y, board.origin.x + to.x,
                   board.origin.y + to.y, board.look(fields.map(), look, "line"));
  };
  const YAML::Node labels = fields.several("labels", true), ticks = fields.several("ticks", true);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double value = board.number(ticks[i]), pixel = scale.pixel_of(value);
    if (fields.has("across"))
      line(place(pixel, across.x), place(pixel, across.y), "rule");
    else
      line(place(pixel, at), place(pixel, at + 4), "ink");
    const std::string text = i < labels.size() ? board.text(labels[i]) : report::amount(value);
    board.label(ticks[i],
                {is_upright ? Point{at - 7, pixel + 4} : Point{pixel, at + 18}, size, "faint",
                 is_upright ? "end" : "middle"},
                text);
  }
  if (fields.text("line", "yes") == "yes")
    line(place(scale.first_pixel, at), place(scale.last_pixel, at), "ink");
}

/// A length with its ends marked and a text below it.
void draw_span(Fields& fields, Board& board) {
  const Point from = fields.pair("from"), to = fields.pair("to");
  const std::string words = fields.text("look", "faint"),
                    look = board.look(fields.map(), words, "line");
  const auto line = [&](double x1, double y1, double x2, double y2) {
    board.svg.line(board.origin.x + x1, board.origin.y + y1, board.origin.x + x2,
                   board.origin.y + y2, look);
  };
  line(from.x, from.y, to.x, to.y);
  line(from.x, from.y - 5, from.x, from.y + 5);
  line(to.x, to.y - 5, to.x, to.y + 5);
  if (fields.has("is"))
    board.label(
        fields.map(),
        {{(from.x + to.x) / 2, from.y + 18}, fields.number("text_size", 12), words, "middle"},
        fields.text("is", ""));
}

/// All but `draw`, which is a list of statements.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"text", draw_text},     {"box", draw_box},     {"grid", draw_grid},
      {"line", draw_line},     {"arrow", draw_arrow}, {"circle", draw_circle},
      {"legend", draw_legend}, {"axis", draw_axis},   {"span", draw_span}};
  return kShapes;
}

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

  /// One shape or list, for each row and each step of its repetition.
  void statement(const YAML::Node& node) {
    Fields fields(node, "statement", board_);
    // All at once: what is drawn no time has its fields all the same.
    for (const char* field : {"when", "set", "move", "step", "draw"}) (void)fields.node(field);
    for (const Shape& each : shapes()) (void)fields.node(std::string(each.name));
    const YAML::Node rows = fields.node("each"), repetition = fields.several("repeat");
    const Names names = board_.names;
    if (!rows.IsDefined()) {
      repeat(fields, repetition);
    } else {
      for (const YAML::Node& row : fields.several("each", true)) {
        if (!row.IsMap()) board_.complain(row, "a row that is no map", "{NAME: value, ...}");
        for (const auto& entry : row) name(entry.first.Scalar(), board_.text(entry.second));
        repeat(fields, repetition);
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

  void repeat(Fields& fields, const YAML::Node& repetition) {
    std::vector<std::pair<std::string, int>> counts;
    for (const auto& entry : repetition)
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
      list(fields);
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

  /// Its "draw", which may be one of the pictures that a page plays in turn.
  void list(Fields& fields) {
    const bool is_step = fields.has("step");
    if (is_step && in_step_)
      return board_.complain(fields.map(), "a step in a step", "steps one after the other");
    if (is_step) board_.begin_step(fields.number("step") != 0);
    in_step_ = in_step_ || is_step;
    statements(fields.node("draw"));
    if (!is_step) return;
    in_step_ = false;
    board_.end_step();
  }

  Board& board_;
  std::size_t drawn_ = 0;
  bool in_step_ = false;
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
