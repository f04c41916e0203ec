// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_values.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

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

}  // namespace membound::authoring
