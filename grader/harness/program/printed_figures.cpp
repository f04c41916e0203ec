// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/call_rule_checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace membound::harness {
namespace {

struct Unit {
  std::string_view text;
  double size;  ///< in ns, or in bytes per ns
  bool is_rate;
};
constexpr double kMebi = 1024.0 * 1024.0;
constexpr std::array kUnits = std::to_array<Unit>({{"ns", 1, false},
                                                   {"us", 1e3, false},
                                                   {"µs", 1e3, false},
                                                   {"ms", 1e6, false},
                                                   {"s", 1e9, false},
                                                   {"MB/s", 1e-3, true},
                                                   {"GB/s", 1, true},
                                                   {"TB/s", 1e3, true},
                                                   {"MiB/s", kMebi / 1e9, true},
                                                   {"GiB/s", kMebi * 1024 / 1e9, true},
                                                   {"TiB/s", kMebi* kMebi / 1e9, true}});

/// What arithmetic in float may add: a rate is made of a time, a count and a factor, each of them
/// rounded to 24 bits, so some 4 * 2^-24; this leaves room for a few more steps.
constexpr double kFloatError = 1e-5;
/// A rate is made of the bytes that the programmer counts, and held against those that the launch
/// touched: some of a last block beyond the arrays, or none where a kernel leaves out a part.
constexpr double kByteError = 0.01;
/// Whoever divides by 2^30 and writes GB/s means the same bytes: 1.0737 of them.
constexpr double kBinaryGiga = kMebi * 1024 / 1e9;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The unit that begins there and is no part of a longer word.
const Unit* unit_at(std::string_view text) {
  const auto found = std::ranges::find_if(kUnits, [&](const Unit& unit) {
    if (!text.starts_with(unit.text)) return false;
    const std::string_view behind = text.substr(unit.text.size());
    return behind.empty() || !(is_letter(behind.front()) || behind.front() == '/');
  });
  return found == kUnits.end() ? nullptr : &*found;
}

/// What an average of several values can be.
class Between {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  [[nodiscard]] bool holds(const Figure& figure, double factor = 1) const {
    const double error = figure.is_rate ? kByteError : kFloatError;
    const double room = figure.rounding + error * figure.value;
    return figure.value + room >= factor * least_ && figure.value - room <= factor * most_;
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

bool is_measured_time(const Figure& figure, const std::vector<MeasuredTime>& measured) {
  Between whole, one;
  for (const MeasuredTime& time : measured) {
    whole.add(time.ns);
    one.add(time.ns / time.launches);
  }
  return whole.holds(figure) || one.holds(figure);
}

bool is_measured_rate(const Figure& figure, const std::vector<MeasuredTime>& measured) {
  Between all, read, written;  // of what the kernel moved
  for (const MeasuredTime& time : measured) {
    if (time.read_bytes + time.written_bytes == 0) return true;
    all.add((time.read_bytes + time.written_bytes) / time.ns);
    read.add(time.read_bytes / time.ns);
    written.add(time.written_bytes / time.ns);
  }
  return std::ranges::any_of(std::array{all, read, written}, [&](const Between& rates) {
    return rates.holds(figure) || rates.holds(figure, 1 / kBinaryGiga);
  });
}

std::string measured_text(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}

}  // namespace

std::vector<Figure> figures_in(std::string_view printed) {
  std::vector<Figure> all;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    // Not inside a word or a longer number.
    const char before = i == 0 ? ' ' : printed[i - 1];
    const bool begins = is_digit(printed[i]) && !is_digit(before) && !is_letter(before) &&
                        before != '_' && before != '.';
    if (!begins) continue;
    double value = 0;
    const char* const start = printed.data() + i;
    const auto [end, error] = std::from_chars(start, printed.data() + printed.size(), value);
    if (error != std::errc{}) continue;
    const std::string_view number(start, static_cast<std::size_t>(end - start));
    std::string_view behind = printed.substr(i + number.size());
    i += number.size() - 1;
    const std::size_t spaces = std::min(behind.find_first_not_of(' '), behind.size());
    const Unit* const unit = unit_at(behind.substr(spaces));
    if (unit == nullptr) continue;
    // "1.25e3": two digits after the point, each worth 1e3 times as much.
    const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
    const std::size_t point = std::min(number.find('.'), exponent_at);
    const std::size_t digits = exponent_at - std::min(exponent_at, point + 1);
    int exponent = 0;
    if (exponent_at < number.size()) {
      const char* from = number.data() + exponent_at + 1;
      if (from < end && *from == '+') ++from;
      static_cast<void>(std::from_chars(from, end, exponent));
    }
    Figure figure;
    figure.value = value * unit->size;
    figure.rounding = 0.5 * std::pow(10.0, exponent - static_cast<double>(digits)) * unit->size;
    figure.is_rate = unit->is_rate;
    figure.text = std::string(number) + " " + std::string(unit->text);
    all.push_back(std::move(figure));
  }
  return all;
}

std::optional<std::string> invented_figure(std::string_view printed,
                                           const std::vector<MeasuredTime>& measured) {
  const std::vector<Figure> figures = figures_in(printed);
  for (const bool rates : {false, true}) {
    const Figure* first = nullptr;
    bool any_is_measured = false;
    for (const Figure& figure : figures) {
      if (figure.is_rate != rates) continue;
      if (first == nullptr) first = &figure;
      any_is_measured = any_is_measured || (rates ? is_measured_rate(figure, measured)
                                                  : is_measured_time(figure, measured));
    }
    if (first == nullptr || any_is_measured) continue;
    std::string text = "The program printed " + first->text;
    if (measured.empty())
      return text +
             ", and it asked for no time between two events around a launch that made its "
             "results.";
    const MeasuredTime& time = measured.back();
    text += ", but its events measured " + measured_text(time.ns / 1e6) + " ms";
    const double bytes = time.read_bytes + time.written_bytes;
    if (rates)
      text += " for the " + measured_text(bytes / 1e6) + " MB that the kernel moved, which is " +
              measured_text(bytes / time.ns) + " GB/s";
    return text + ".";
  }
  return {};
}

}  // namespace membound::harness
