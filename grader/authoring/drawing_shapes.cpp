// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

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
    board.complain(of, std::to_string(of.size()) + " texts",
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
  const double length = std::hypot(tip.x - from.x, tip.y - from.y);
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
  if (has_head && std::hypot(points.back().x - points[points.size() - 2].x,
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

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {
      {"text", draw_text},     {"box", draw_box},     {"grid", draw_grid},
      {"line", draw_line},     {"arrow", draw_arrow}, {"circle", draw_circle},
      {"legend", draw_legend}, {"axis", draw_axis},   {"span", draw_span}};
  return kShapes;
}

}  // namespace membound::authoring
