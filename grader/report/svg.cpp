// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/svg.hpp"

#include <cstdio>
#include <utility>

namespace membound::report {
namespace {

// The classes start with "mb-" because a page holds several pictures beside its own looks.
// On paper a picture is light, whatever the screen is.
constexpr const char* kPictureLooks = R"(  <style>
    .mb-page{fill:#fcfbf8}.mb-ink{fill:#24292f}.mb-strong{fill:#24292f;font-weight:bold}
    .mb-faint{fill:#5b6370}.mb-frame{fill:#fbe3c6;stroke:#a85a0c;stroke-width:1}
    .mb-cell{fill:#2f6fb0}.mb-mark{fill:#2f7d4f}.mb-hatch{fill:#ece9e1}
    .mb-rule{stroke:#b9b6ad;stroke-width:1}.mb-dash{stroke:#8b8f96;stroke-width:1;stroke-dasharray:3 3}
    .mb-axis{stroke:#24292f;stroke-width:1}.mb-roof{stroke:#a85a0c;stroke-width:2}
    .mb-grid{stroke:#e3e0d8;stroke-width:1}.mb-onlight{fill:#14202c}.mb-ondark{fill:#ffffff}
    @media screen and (prefers-color-scheme:dark){
    .mb-page{fill:#16191d}.mb-ink{fill:#e6e8eb}.mb-strong{fill:#e6e8eb}
    .mb-faint{fill:#a3abb5}.mb-frame{fill:#43301a;stroke:#e39a4a}
    .mb-cell{fill:#6aa9e6}.mb-mark{fill:#63c08a}.mb-hatch{fill:#24292f}
    .mb-rule{stroke:#4a5059}.mb-dash{stroke:#7b828c}
    .mb-axis{stroke:#e6e8eb}.mb-roof{stroke:#e39a4a}.mb-grid{stroke:#2a3037}}
  </style>
)";

constexpr const char* kLicense =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!-- SPDX-FileCopyrightText: The Membound authors -->\n"
    "<!-- SPDX-License-Identifier: Apache-2.0 -->\n";

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + coordinate(value) + "\"";
}

std::string class_attribute(std::string_view look) {
  return " class=\"mb-" + std::string(look) + "\"";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string coordinate(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", value);
  std::string text = buffer;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

Svg::Svg(double width, std::string title, std::string description, std::string more_looks)
    : width_(width),
      title_(std::move(title)),
      description_(std::move(description)),
      more_looks_(std::move(more_looks)) {}

void Svg::box(double x, double y, double width, double height, std::string_view look,
              double round) {
  body_ += "  <rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + (round > 0 ? attribute("rx", round) : "") +
           class_attribute(look) + "/>\n";
}

void Svg::filled(double x, double y, double width, double height, std::string_view colour) {
  body_ += "  <rect" + attribute("x", x) + attribute("y", y) + attribute("width", width) +
           attribute("height", height) + " fill=\"" + std::string(colour) + "\"/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view look) {
  body_ += "  <line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
           attribute("y2", y2) + class_attribute(look) + "/>\n";
}

void Svg::path(std::string_view d, std::string_view look) {
  body_ += "  <path d=\"" + std::string(d) + "\"" + class_attribute(look) + "/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view look) {
  body_ += "  <circle" + attribute("cx", x) + attribute("cy", y) + attribute("r", radius) +
           class_attribute(look) + "/>\n";
}

void Svg::text(double x, double y, double size, std::string_view look, std::string_view anchor,
               std::string_view text) {
  body_ += "  <text" + attribute("x", x) + attribute("y", y) + attribute("font-size", size) +
           " text-anchor=\"" + std::string(anchor) + "\"" + class_attribute(look) + ">" +
           escaped(text) + "</text>\n";
}

void Svg::upward_text(double x, double y, double size, std::string_view look,
                      std::string_view text) {
  const std::string place = coordinate(x) + " " + coordinate(y);
  body_ += "  <text transform=\"translate(" + place + ") rotate(-90)\"" +
           attribute("font-size", size) + class_attribute(look) + ">" + escaped(text) + "</text>\n";
}

void Svg::begin(std::string_view look, bool hidden) {
  body_ += "  <g" + class_attribute(look) + (hidden ? " display=\"none\"" : "") + ">\n";
}

void Svg::end() { body_ += "  </g>\n"; }

std::string Svg::finish(double height, bool standalone) const {
  const std::string size = coordinate(width_) + " " + coordinate(height);
  return std::string(standalone ? kLicense : "") +
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + size + "\"" +
         attribute("width", width_) + attribute("height", height) +
         " font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\" role=\"img\">\n" +
         "  <title>" + escaped(title_) + "</title>\n  <desc>" + escaped(description_) +
         "</desc>\n" + kPictureLooks +
         (more_looks_.empty() ? "" : "  <style>" + more_looks_ + "  </style>\n") + "  <rect" +
         attribute("width", width_) + attribute("height", height) + class_attribute("page") +
         "/>\n" + body_ + "</svg>\n";
}

}  // namespace membound::report
