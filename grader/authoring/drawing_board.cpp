// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_board.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

// Loosest first; of two that begin alike, the longer first.
constexpr std::array<std::array<std::string_view, 6>, 5> kOperators{
    {{"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-", "^"}, {"*", "//", "/", "%"}}};

double apply(std::string_view op, double a, double b) {
  if (op == "||") return a != 0 || b != 0;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "//") return std::floor(a / b);
  if (op == "%") return a - b * std::floor(a / b);
  return static_cast<double>(static_cast<std::int64_t>(a) ^ static_cast<std::int64_t>(b));
}

/// Reads one sum from left to right. After the first mistake it goes on with zeros.
class SumReader {
 public:
  SumReader(const std::string& text, const Names& names) : text_(text), names_(names) {}

  base::Result<double> read() {
    const double value = level(0);
    skip_spaces();
    if (at_ < text_.size()) mistake("\"" + text_.substr(at_) + "\"", "an operator or the end");
    if (!std::isfinite(value)) mistake("no finite number", "a number");
    if (!found_.empty())
      return base::Error{base::ErrorKind::kInput, "", "in the sum \"" + text_ + "\": " + found_,
                         expected_, ""};
    return value;
  }

 private:
  double level(std::size_t depth) {
    if (depth == kOperators.size()) return factor();
    double left = level(depth + 1);
    for (std::string_view op = take(depth); !op.empty(); op = take(depth))
      left = apply(op, left, level(depth + 1));
    return left;
  }

  double factor() {
    if (taken("-")) return -factor();
    if (taken("(")) return closed(level(0));
    skip_spaces();
    const char* const start = text_.c_str() + at_;
    if (at_ < text_.size() &&
        (std::isdigit(static_cast<unsigned char>(*start)) != 0 || *start == '.')) {
      char* end = nullptr;
      const double number = std::strtod(start, &end);
      at_ += static_cast<std::size_t>(end - start);
      return number;
    }
    const std::size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return named(text_.substr(from, at_ - from));
  }

  double named(const std::string& name) {
    if (const auto number = names_.numbers.find(name); number != names_.numbers.end())
      return number->second;
    const auto list = names_.lists.find(name);
    const auto scale = names_.scales.find(name);
    const bool has_two = name == "min" || name == "max";
    if (!has_two && list == names_.lists.end() && scale == names_.scales.end())
      return mistake(name.empty() ? "nothing that has a value" : "the unknown name " + name,
                     "a number, or one of: " + known());
    if (!taken("(")) return mistake(name + " without (", name + "(...)");
    const double first = level(0);
    if (has_two) {
      if (!taken(",")) return mistake(name + " of one number", name + "(a, b)");
      const double second = closed(level(0));
      return name == "min" ? std::min(first, second) : std::max(first, second);
    }
    closed(0);
    if (scale != names_.scales.end()) return scale->second.pixel_of(first);
    const auto& values = list->second;
    if (first >= 0 && first < static_cast<double>(values.size()))
      return values[static_cast<std::size_t>(first)];
    return mistake(name + "(" + report::amount(first) + ")",
                   "0 to " + std::to_string(values.size()) + " - 1");
  }

  [[nodiscard]] std::string known() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : names_.numbers) all.push_back(name);
    for (const auto& [name, value] : names_.lists) all.push_back(name + "()");
    for (const auto& [name, value] : names_.scales) all.push_back(name + "()");
    all.insert(all.end(), {"min()", "max()"});
    return report::listed(all);
  }

  double closed(double value) { return taken(")") ? value : mistake("no )", "one for each ("); }

  double mistake(std::string found, std::string expected) {
    if (found_.empty()) {
      found_ = std::move(found);
      expected_ = std::move(expected);
    }
    at_ = text_.size();
    return 0;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool taken(std::string_view token) {
    skip_spaces();
    if (text_.compare(at_, token.size(), token) != 0) return false;
    at_ += token.size();
    return true;
  }
  std::string_view take(std::size_t depth) {
    for (const std::string_view op : kOperators[depth])
      if (!op.empty() && taken(op)) return op;
    return {};
  }

  const std::string& text_;
  const Names& names_;
  std::size_t at_ = 0;
  std::string found_, expected_;
};

}  // namespace

double Scale::pixel_of(double value) const {
  const double share = logarithmic ? std::log(value / first) / std::log(last / first)
                                   : (value - first) / (last - first);
  return first_pixel + share * (last_pixel - first_pixel);
}

base::Result<double> value_of(const std::string& sum, const Names& names) {
  return SumReader(sum, names).read();
}

base::Result<std::string> filled_in(const std::string& text, const Names& names) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at), close = text.find('}', open);
    filled += text.substr(at, open - at);
    if (open == std::string::npos) break;
    if (close == std::string::npos)
      return base::Error{base::ErrorKind::kInput, "", "{ without } in \"" + text + "\"",
                         "{name} or {sum}", ""};
    const std::string inner = text.substr(open + 1, close - open - 1);
    at = close + 1;
    if (const auto word = names.words.find(inner); word != names.words.end()) {
      filled += word->second;
      continue;
    }
    const auto value = value_of(inner, names);
    if (!value) return value.error();
    filled += report::amount(*value);
  }
  return filled;
}

namespace {

struct Role {
  std::string_view name, inside, edge, dark_inside, dark_edge;
};

constexpr Role kRoles[] = {
#define ROLE(name, inside, edge, dark_inside, dark_edge, meaning) \
  {#name, inside, edge, dark_inside, dark_edge},
#include "grader/authoring/drawing_looks.def"
};

struct Modifier {
  std::string_view name, kinds, css;
};

constexpr Modifier kModifiers[] = {{"full", "box", ""},
                                   {"open", "box", "fill:none"},
                                   {"pale", "line", "opacity:.55"},
                                   {"dashed", "box line", "stroke-dasharray:5 3"},
                                   {"thick", "box line", "stroke-width:2.2"},
                                   {"bold", "text", "font-weight:bold"},
                                   {"mono", "text", "font-family:DejaVu Sans Mono,monospace"}};

std::string css_of_role(const Role& role, std::string_view inside, std::string_view edge) {
  const std::string name = ".mb-" + std::string(role.name);
  return name + "-box{fill:" + std::string(inside) + ";stroke:" + std::string(edge) + "}" + name +
         "-line{fill:none;stroke:" + std::string(edge) + "}" + name +
         "-text{fill:" + std::string(edge) + "}";
}

std::vector<std::string> parts_of_look(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string css_of(const std::set<std::string>& roles) {
  std::string light, dark;
  for (const Role& role : kRoles) {
    if (!roles.contains(std::string(role.name))) continue;
    light += "    " + css_of_role(role, role.inside, role.edge) + "\n";
    dark += "    " + css_of_role(role, role.dark_inside, role.dark_edge) + "\n";
  }
  for (const Modifier& modifier : kModifiers)
    if (roles.contains(std::string(modifier.name)) && !modifier.css.empty())
      light += "    .mb-" + std::string(modifier.name) + "{" + std::string(modifier.css) + "}\n";
  return "\n" + light + "    @media screen and (prefers-color-scheme:dark){\n" + dark + "    }\n";
}

bool is_role(const std::string& name) {
  return std::any_of(std::begin(kRoles), std::end(kRoles),
                     [&](const Role& role) { return role.name == name; });
}

double width_of(const std::string& text, double size, const std::string& look) {
  constexpr std::string_view kNarrow = "ijlIJ|.,:;'! ()[]/-ftr", kWide = "mwMW%@+=<>";
  if (look.find("mono") != std::string::npos)
    return 0.602 * size * static_cast<double>(report::columns(text));
  double ems = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // within a UTF-8 character
    const bool is_large = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    ems += kNarrow.find(c) != std::string_view::npos ? 0.34
           : kWide.find(c) != std::string_view::npos ? 0.86
           : is_large                                ? 0.65
                                                     : 0.595;
  }
  return ems * size * (look.find("bold") == std::string::npos ? 1 : 1.1);
}

void Board::complain(const YAML::Node& where, std::string found, std::string expected) {
  if (mistake_) return;
  const int line = where.IsDefined() ? where.Mark().line + 1 : 0;
  mistake_ = base::Error{base::ErrorKind::kInput, std::to_string(line), std::move(found),
                         std::move(expected), "docs/drawing_figures.md"};
}

double Board::number(const YAML::Node& sum) {
  if (!sum.IsScalar()) return complain(sum, "not a number", "a number or a sum"), 0;
  const auto value = value_of(sum.Scalar(), names);
  if (value) return *value;
  complain(sum, value.error().found, value.error().expected);
  return 0;
}

std::string Board::text(const YAML::Node& node) {
  if (!node.IsScalar()) return complain(node, "not a text", "a text"), "";
  const auto filled = filled_in(node.Scalar(), names);
  if (filled) return *filled;
  complain(node, filled.error().found, filled.error().expected);
  return "";
}

std::string Board::look(const YAML::Node& where, const std::string& words,
                        const std::string& kind) {
  const std::vector<std::string> all = parts_of_look(words);
  if (all.empty() || !is_role(all.front())) {
    std::vector<std::string> names_of_roles;
    for (const Role& role : kRoles) names_of_roles.emplace_back(role.name);
    complain(where, "the colour \"" + words + "\"",
             "first a role: " + report::listed(names_of_roles));
    return "";
  }
  roles_.insert(all.begin(), all.end());
  std::string more;
  bool is_full = false;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto* const modifier =
        std::find_if(std::begin(kModifiers), std::end(kModifiers), [&](const Modifier& each) {
          return each.name == all[i] && each.kinds.find(kind) != std::string_view::npos;
        });
    if (modifier == std::end(kModifiers))
      complain(
          where, "\"" + all[i] + "\" in the look of a " + kind,
          "full, open, dashed, thick of boxes, pale, dashed, thick of lines, bold, mono of texts");
    is_full |= all[i] == "full";
    if (all[i] != "full") more += " mb-" + all[i];
  }
  // A full box is of its edge's colour, as a text is.
  return all.front() + (is_full ? "-text" : "-" + kind) + more;
}

void Board::label(const YAML::Node& where, const Label& label, const std::string& text) {
  if (text.empty()) return;
  if (label.size < report::kSmallText)
    complain(where, "a label of " + report::coordinate(label.size) + " pixels: \"" + text + "\"",
             report::coordinate(report::kSmallText) + " pixels or more");
  const std::string look = this->look(where, label.look, "text");
  const double x = origin.x + label.at.x, y = origin.y + label.at.y;
  const double width = width_of(text, label.size, label.look);
  Extent extent{x, y - 0.72 * label.size, x + width, y + 0.1 * label.size, text};
  if (label.upward) {
    svg.upward_text(x, y, label.size, look, text);
    extent = {x - 0.72 * label.size, y - width, x + 0.1 * label.size, y, text};
  } else {
    svg.text(x, y, label.size, look, label.anchor, text);
    const double back = label.anchor == "middle" ? width / 2 : label.anchor == "end" ? width : 0;
    extent.left -= back;
    extent.right -= back;
  }
  if (extent.left < 0 || extent.top < 0 || extent.right > size_.x || extent.bottom > size_.y)
    complain(where,
             "the text \"" + text + "\" leaves the picture: about " +
                 report::coordinate(extent.left) + " to " + report::coordinate(extent.right) +
                 " across, " + report::coordinate(extent.top) + " to " +
                 report::coordinate(extent.bottom) + " down",
             "within " + report::coordinate(size_.x) + " x " + report::coordinate(size_.y));
  for (const Extent& other : extents_)
    if (extent.left < other.right && other.left < extent.right && extent.top < other.bottom &&
        other.top < extent.bottom)
      complain(where, "the text \"" + text + "\" runs into \"" + other.text + "\"",
               "texts beside each other");
  extents_.push_back(std::move(extent));
}

void Board::begin_step(bool still) {
  outside_ = extents_.size();
  svg.begin("step", !still);
  svg.begin("turn");
  svg.begin("count");  // which steps.js shows; nothing is counted here
  svg.end();
}

void Board::end_step() {
  svg.end();
  svg.end();
  extents_.resize(outside_);
}

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
