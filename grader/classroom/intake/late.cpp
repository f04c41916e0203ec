// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/late.hpp"

#include <date/date.h>

#include <algorithm>
#include <ctime>
#include <sstream>

namespace membound::intake {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr date::sys_seconds kEpoch = date::sys_days{date::year{1970} / 1 / 1};
constexpr date::sys_seconds kYear10000 = date::sys_days{date::year{10000} / 1 / 1};

/// `text` as a time of 1970 to 9999, where it is one of this format and nothing more.
std::optional<date::sys_seconds> read_as(const std::string& format, const std::string& text) {
  std::istringstream in(text);
  date::sys_seconds time;
  date::from_stream(in, format.c_str(), time);
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  if (time < kEpoch || time >= kYear10000) return std::nullopt;
  return time;
}

/// What this machine's clock on the wall shows at `wall`.
std::int64_t local(date::sys_seconds wall) {
  const std::time_t shown = wall.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&shown, &parts);
  parts.tm_isdst = -1;
  return mktime(&parts);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  std::string one(text);
  if (one.size() > 10 && one[10] == 'T') one[10] = ' ';
  if (const auto dot = one.find('.'); dot != std::string::npos)
    one.erase(dot, one.find_first_not_of("0123456789", dot + 1) - dot);
  if (const auto day = read_as("%F", one)) return local(*day + seconds{kDay - 1});
  for (const std::string time : {"%F %H:%M", "%F %T"}) {
    if (const auto wall = read_as(time, one)) return local(*wall);
    for (const char* zone : {" Z", " UTC", " %z", " %Ez"})
      if (const auto found = read_as(time + zone, one)) return found->time_since_epoch().count();
  }
  // Moodle's worksheet: "Friday, 20 November 2026, 9:37 PM".
  if (const auto wall = read_as("%A, %d %B %Y, %I:%M %p", std::string(text))) return local(*wall);
  return std::nullopt;
}

std::string utc_text(std::int64_t time) {
  const date::sys_seconds moment{seconds{time}};
  if (time == 0 || moment < kEpoch || moment >= kYear10000) return "";
  return date::format("%FT%TZ", moment);
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
