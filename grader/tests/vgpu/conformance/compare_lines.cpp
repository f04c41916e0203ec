// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/tests/vgpu/conformance/compare_lines.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace membound::conformance {
namespace {

/// What the bounds need to know of an element type.
struct Format {
  int mantissa_bits;
  int smallest_exponent;  ///< of the smallest normal number
};

Format format_of(Element element) {
  switch (element) {
    case Element::kF16:
      return {10, -14};
    case Element::kBf16:
      return {7, -126};
    case Element::kF32:
      return {23, -126};
    default:
      return {52, -1022};
  }
}

/// The unit in the last place at `value`.
double ulp_at(Element element, double value) {
  const Format format = format_of(element);
  int exponent = value == 0 ? format.smallest_exponent : std::ilogb(value);
  exponent = std::max(exponent, format.smallest_exponent);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  if (exponent == 31) value = mantissa == 0 ? HUGE_VAL : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

double value_at(Element element, const std::vector<std::uint32_t>& words, std::size_t index) {
  switch (element) {
    case Element::kF16:
      return half_value(static_cast<std::uint16_t>(words[index]));
    case Element::kBf16:
      return std::bit_cast<float>(words[index] << 16);
    case Element::kF32:
      return std::bit_cast<float>(words[index]);
    default:
      return std::bit_cast<double>(words[index * 2] | std::uint64_t{words[index * 2 + 1]} << 32);
  }
}

bool close_enough(const Tolerance& tolerance, double truth, double found) {
  if (std::isnan(truth) || std::isnan(found)) return std::isnan(truth) && std::isnan(found);
  if (truth == found) return std::signbit(truth) == std::signbit(found);
  if (std::isinf(truth) || std::isinf(found)) return false;
  const double error = std::abs(truth - found);
  return error <= tolerance.ulps * ulp_at(tolerance.element, truth) ||
         error <= tolerance.relative * std::abs(truth) || error <= tolerance.absolute;
}

Element element_of(const std::string& name) {
  if (name == "f16") return Element::kF16;
  if (name == "bf16") return Element::kBf16;
  return name == "f32" ? Element::kF32 : Element::kF64;
}

/// "ulp_f32=2" into its field.
void read_bound(const std::string& text, Tolerance& tolerance) {
  const std::size_t under = text.find('_'), equals = text.find('=');
  if (under == std::string::npos || equals == std::string::npos) return;
  const double value = std::atof(text.c_str() + equals + 1);
  const std::string kind = text.substr(0, under);
  tolerance.element = element_of(text.substr(under + 1, equals - under - 1));
  (kind == "ulp"   ? tolerance.ulps
   : kind == "rel" ? tolerance.relative
                   : tolerance.absolute) = value;
}

std::string words_at(const Line& line, std::size_t index, std::size_t words) {
  char text[32];
  if (words == 1) {
    std::snprintf(text, sizeof text, "%08x", line.words[index]);
  } else {
    std::snprintf(text, sizeof text, "%08x%08x", line.words[index * 2 + 1], line.words[index * 2]);
  }
  return text;
}

}  // namespace

Lines parse_lines(const std::string& text) {
  Lines lines;
  std::istringstream all(text);
  for (std::string row; std::getline(all, row);) {
    const std::size_t colon = row.find(':');
    if (row.empty() || row[0] == '#' || colon == std::string::npos) continue;
    std::istringstream head(row.substr(0, colon)), tail(row.substr(colon + 1));
    std::string name, word;
    head >> name;
    Line line;
    for (std::string bound; head >> bound;) read_bound(bound, line.tolerance);
    while (tail >> word) {
      if (word == "error") {
        tail >> line.error;
      } else {
        line.words.push_back(static_cast<std::uint32_t>(std::strtoul(word.c_str(), nullptr, 16)));
      }
    }
    lines[name] = std::move(line);
  }
  return lines;
}

Lines truth_of(const std::string& text, const std::string& program) {
  const std::string heading = "\n## " + program + "\n";
  const std::size_t start = text.find(heading);
  if (start == std::string::npos) return {};
  const std::size_t end = text.find("\n## ", start + heading.size());
  return parse_lines(text.substr(start + heading.size(), end - start - heading.size() + 1));
}

std::string difference(const Line& truth, const Line& found) {
  if (!found.error.empty()) return "ended with " + found.error;
  if (truth.words.size() != found.words.size()) {
    return std::to_string(found.words.size()) + " words instead of " +
           std::to_string(truth.words.size());
  }
  const std::size_t width = truth.tolerance.element == Element::kF64 ? 2 : 1;
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < truth.words.size() / width; ++i) {
    bool good = truth.words[i * width] == found.words[i * width] &&
                truth.words[i * width + width - 1] == found.words[i * width + width - 1];
    if (!good && truth.tolerance.element != Element::kBits) {
      good = close_enough(truth.tolerance, value_at(truth.tolerance.element, truth.words, i),
                          value_at(truth.tolerance.element, found.words, i));
    }
    if (!good && wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(truth.words.size() / width) +
         " values; the first is value " + std::to_string(first) + ", " +
         words_at(found, first, width) + " instead of " + words_at(truth, first, width);
}

}  // namespace membound::conformance
