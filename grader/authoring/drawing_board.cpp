// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_board.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "grader/report/text.hpp"

namespace membound::authoring {
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

}  // namespace membound::authoring
