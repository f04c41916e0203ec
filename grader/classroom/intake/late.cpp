// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/late.hpp"

#include <algorithm>
#include <ctime>

namespace membound::intake {
namespace {

constexpr std::int64_t kDay = 24 * 60 * 60;

/// Reads numbers and separators one after the other.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool number(std::size_t digits, int low, int high, int& value) {
    if (text_.size() < digits) return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (text_[i] < '0' || text_[i] > '9') return false;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return value >= low && value <= high;
  }
  bool sign(std::string_view any_of, char& found) {
    if (text_.empty() || any_of.find(text_.front()) == std::string_view::npos) return false;
    found = text_.front();
    text_.remove_prefix(1);
    return true;
  }
  bool skip(std::string_view any_of) {
    char ignored = 0;
    return sign(any_of, ignored);
  }
  void skip_digits() {
    while (skip("0123456789")) {
    }
  }
  bool word(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

bool is_date(const std::tm& wanted, std::time_t time) {
  std::tm found{};
  gmtime_r(&time, &found);
  return found.tm_mday == wanted.tm_mday && found.tm_mon == wanted.tm_mon;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  Scanner scan(text);
  std::tm parts{};
  int year = 0, month = 0;
  if (!scan.number(4, 1970, 9999, year) || !scan.skip("-") || !scan.number(2, 1, 12, month) ||
      !scan.skip("-") || !scan.number(2, 1, 31, parts.tm_mday))
    return std::nullopt;
  parts.tm_year = year - 1900;
  parts.tm_mon = month - 1;
  std::tm day = parts;
  if (!is_date(parts, timegm(&day))) return std::nullopt;  // there is no 30 February
  parts.tm_hour = 23;
  parts.tm_min = 59;
  parts.tm_sec = 59;
  if (!scan.at_end()) {
    parts.tm_sec = 0;
    if (!scan.skip("T ") || !scan.number(2, 0, 23, parts.tm_hour) || !scan.skip(":") ||
        !scan.number(2, 0, 59, parts.tm_min))
      return std::nullopt;
    if (scan.skip(":") && !scan.number(2, 0, 60, parts.tm_sec)) return std::nullopt;
    if (scan.skip(".")) scan.skip_digits();
    scan.skip(" ");
  }
  std::int64_t offset = 0;
  char sign = 0;
  if (scan.word("Z") || scan.word("UTC")) {
    if (!scan.at_end()) return std::nullopt;
  } else if (scan.sign("+-", sign)) {
    int hours = 0, minutes = 0;
    if (!scan.number(2, 0, 14, hours)) return std::nullopt;
    scan.skip(":");
    if (!scan.at_end() && !scan.number(2, 0, 59, minutes)) return std::nullopt;
    if (!scan.at_end()) return std::nullopt;
    offset = (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  } else if (scan.at_end()) {
    parts.tm_isdst = -1;
    return static_cast<std::int64_t>(mktime(&parts));
  } else {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(timegm(&parts)) - offset;
}

std::string utc_text(std::int64_t time) {
  if (time == 0) return "";
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr || parts.tm_year < 0 || parts.tm_year > 8099) return "";
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Lateness lateness(const LatePolicy& policy, std::int64_t time) {
  if (!policy.due || time == 0) return {};
  const std::int64_t by = time - *policy.due - policy.grace_seconds;
  if (by <= 0) return {};
  const std::int64_t days = (by + kDay - 1) / kDay;
  const double lost = policy.percent_per_day / 100 * static_cast<double>(days);
  return {by, std::clamp(1 - lost, 0.0, 1.0)};
}

}  // namespace membound::intake
