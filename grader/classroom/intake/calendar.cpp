// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/calendar.hpp"

#include <algorithm>
#include <ctime>
#include <sstream>
#include <vector>

#include <date/date.h>
#include <date/tz.h>

#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

namespace membound::intake {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr date::sys_seconds kEpoch = date::sys_days{date::year{1970} / 1 / 1};
constexpr date::sys_seconds kYear10000 = date::sys_days{date::year{10000} / 1 / 1};
constexpr const char* kTimeForms = "2026-11-30, 2026-11-30T23:59 or 2026-11-30T23:59+01:00";

/// The moments that a time on the clock may mean; equal for nearly all of them.
struct Readings {
  enum class Kind { kOne, kSkipped, kTwice };

  Kind kind = Kind::kOne;
  std::int64_t first = 0, second = 0;  ///< of a skipped time by the offsets around it
  std::int64_t wall = 0;               ///< what the clock shows, as if it were UTC
};

/// What the clock of this machine shows at `time`, in seconds since 1970 as if it were UTC.
std::int64_t machine_wall(std::int64_t time) {
  const std::time_t moment = time;
  std::tm parts{};
  localtime_r(&moment, &parts);
  return timegm(&parts);
}

/// `wall` read with and without summer time: what does not show `wall` again is no reading of it.
Readings machine_readings(std::int64_t wall) {
  std::vector<std::int64_t> found;
  for (const int summer : {1, 0}) {
    const std::time_t shown = wall;
    std::tm parts{};
    gmtime_r(&shown, &parts);
    parts.tm_isdst = summer;
    found.push_back(mktime(&parts));
  }
  std::sort(found.begin(), found.end());
  const bool first = machine_wall(found[0]) == wall, second = machine_wall(found[1]) == wall;
  if (first && second && found[0] != found[1])
    return {Readings::Kind::kTwice, found[0], found[1], wall};
  if (first) return {Readings::Kind::kOne, found[0], found[0], wall};
  if (second) return {Readings::Kind::kOne, found[1], found[1], wall};
  return {Readings::Kind::kSkipped, found[0], found[1], wall};
}

/// `wall`: seconds since 1970 as if the clock of `zone` showed UTC.
Readings readings_of(std::int64_t wall, const Zone& zone) {
  if (zone.name.empty()) return machine_readings(wall);
  const auto info = date::locate_zone(zone.name)->get_info(date::local_seconds{seconds{wall}});
  Readings found;
  found.wall = wall;
  found.first = wall - info.first.offset.count();
  found.second = found.first;
  if (info.result == date::local_info::unique) return found;
  found.kind = info.result == date::local_info::nonexistent ? Readings::Kind::kSkipped
                                                            : Readings::Kind::kTwice;
  found.second = wall - info.second.offset.count();
  if (found.second < found.first) std::swap(found.first, found.second);
  return found;
}

/// What the clock of `zone` shows at `time`, as above.
std::int64_t wall_of(std::int64_t time, const Zone& zone) {
  if (zone.name.empty()) return machine_wall(time);
  return date::locate_zone(zone.name)
      ->to_local(date::sys_seconds{seconds{time}})
      .time_since_epoch()
      .count();
}

/// `text` as a time of 1970 to 9999, where it is one of this format and nothing more.
std::optional<std::int64_t> read_as(const std::string& format, const std::string& text) {
  std::istringstream in(text);
  date::sys_seconds time;
  date::from_stream(in, format.c_str(), time);
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  if (time < kEpoch || time >= kYear10000) return std::nullopt;
  return time.time_since_epoch().count();
}

/// The last second of a day: the one before the clock first shows the next day. Where it never
/// shows midnight, that day starts when it moves on.
std::int64_t end_of_day(std::int64_t day, const Zone& zone) {
  const Readings next = readings_of(day + kDay, zone);
  return (next.kind == Readings::Kind::kSkipped ? next.second : next.first) - 1;
}

/// What a text says: a moment, or a time on the clock of a zone with its readings.
std::optional<Readings> read_time(std::string_view text, const Zone& zone) {
  const auto moment = [](std::int64_t time) {
    return Readings{Readings::Kind::kOne, time, time, time};
  };
  std::string one(text);
  if (one.size() > 10 && one[10] == 'T') one[10] = ' ';
  if (const auto dot = one.find('.'); dot != std::string::npos)
    one.erase(dot, one.find_first_not_of("0123456789", dot + 1) - dot);
  if (const auto day = read_as("%F", one)) return moment(end_of_day(*day, zone));
  for (const std::string time : {"%F %H:%M", "%F %T"}) {
    if (const auto wall = read_as(time, one)) return readings_of(*wall, zone);
    for (const char* offset : {" Z", " UTC", " %z", " %Ez"})
      if (const auto found = read_as(time + offset, one)) return moment(*found);
  }
  // Moodle's worksheet: "Friday, 20 November 2026, 9:37 PM".
  if (const auto wall = read_as("%A, %d %B %Y, %I:%M %p", std::string(text)))
    return readings_of(*wall, zone);
  return std::nullopt;
}

/// "2026-10-25T02:30+02:00": `time` with the offset by which it shows `wall`.
std::string with_offset(std::int64_t wall, std::int64_t time) {
  const std::int64_t offset = (wall - time) / 60, size = offset < 0 ? -offset : offset;
  char text[16];
  std::snprintf(text, sizeof text, "%c%02d:%02d", offset < 0 ? '-' : '+',
                static_cast<int>(size / 60), static_cast<int>(size % 60));
  return date::format("%FT%R", date::sys_seconds{seconds{wall}}) + text;
}

}  // namespace

base::Result<Zone> zone_named(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  try {
    for (const date::time_zone& zone : date::get_tzdb().zones) names.push_back(zone.name());
    return Zone{date::locate_zone(name)->name()};
  } catch (const std::runtime_error&) {
    const auto near = base::nearest(name, names);
    return base::Error{base::ErrorKind::kInput, where,
                       "\"" + shown(name, 60) + "\" is no time zone that this machine knows",
                       "a name of the IANA time zone database, as in Europe/Berlin",
                       names.empty() ? "install the package tzdata"
                       : near        ? "is " + *near + " meant?"
                                     : "`timedatectl list-timezones` lists them"};
  }
}

std::optional<std::int64_t> parse_time(std::string_view text, const Zone& zone) {
  const auto found = read_time(text, zone);
  if (!found) return std::nullopt;
  return found->first;
}

base::Result<std::int64_t> read_deadline(std::string_view text, const Zone& zone,
                                         const std::string& where) {
  const auto found = read_time(text, zone);
  if (!found)
    return base::Error{base::ErrorKind::kInput, where, "\"" + shown(text, 60) + "\" is no time",
                       kTimeForms, ""};
  if (found->kind == Readings::Kind::kOne) return found->first;
  const bool skipped = found->kind == Readings::Kind::kSkipped;
  return base::Error{
      base::ErrorKind::kInput, where,
      "\"" + shown(text, 60) + "\" is " + (skipped ? "passed over by" : "shown twice by") +
          " the clock of " + (zone.name.empty() ? "this machine's time zone" : zone.name),
      with_offset(found->wall, found->first) + " (" + utc_text(found->first) + ") or " +
          with_offset(found->wall, found->second) + " (" + utc_text(found->second) + ")",
      "write the one that is meant"};
}

std::string utc_text(std::int64_t time) {
  const date::sys_seconds moment{seconds{time}};
  if (time == 0 || moment < kEpoch || moment >= kYear10000) return "";
  return date::format("%FT%TZ", moment);
}

std::string zone_text(std::int64_t time, const Zone& zone) {
  if (zone.name.empty() || time == 0) return utc_text(time);
  return date::format("%F %R", date::sys_seconds{seconds{wall_of(time, zone)}}) + " (" + zone.name +
         ")";
}

std::int64_t days_begun(std::int64_t start, std::int64_t time, const Zone& zone) {
  if (time <= start) return 0;
  const std::int64_t wall = wall_of(start, zone);
  // A day of the calendar is at most hours longer or shorter than one of the clock.
  std::int64_t days = std::max<std::int64_t>(1, (time - start) / kDay - 1);
  while (readings_of(wall + days * kDay, zone).second < time) ++days;
  return days;
}

}  // namespace membound::intake
