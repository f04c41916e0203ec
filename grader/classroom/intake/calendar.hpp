// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times as people and platforms write them, and days as the calendar of a time zone has them: the
/// day on which summer time ends has 25 hours, and is one day. The zones are the system's
/// (IANA's time zone database).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::intake {

/// The clock on a wall: of a place, or of this machine.
struct Zone {
  std::string name;  ///< "Europe/Berlin"; empty: this machine's time zone

  bool operator==(const Zone&) const = default;
};

/// The zone of this name; an error where the database has none.
[[nodiscard]] base::Result<Zone> zone_named(const std::string& name, const std::string& where);

/// Seconds since 1970 of "2026-11-30" (the end of that day), "2026-11-30T23:59",
/// "2026-11-30 23:59:59.25 -0800", "…Z", "Monday, 30 November 2026, 11:59 PM"; without an offset as
/// the clock of `zone` shows it. Of a time that the clock shows twice the first. Nothing where it
/// is no such text.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text, const Zone& zone = {});

/// The same of a time that somebody decides. An error too where the clock of `zone` passes over
/// that time or shows it twice: nobody can say which moment is meant, and it names both.
[[nodiscard]] base::Result<std::int64_t> read_deadline(std::string_view text, const Zone& zone,
                                                       const std::string& where);

/// UTC, "2026-11-21T06:18:13Z"; empty for 0.
[[nodiscard]] std::string utc_text(std::int64_t time);

/// As the clock of `zone` shows it, "2026-11-21 07:18 (Europe/Berlin)"; UTC for this machine's
/// zone; empty for 0.
[[nodiscard]] std::string zone_text(std::int64_t time, const Zone& zone);

/// How many days begin between `start` and `time`: 0 where `time` is no later, else the least n for
/// which `time` is no later than the clock of `zone` shows the time of `start` n days on. Where it
/// shows that twice, or passes over it, the later reading.
[[nodiscard]] std::int64_t days_begun(std::int64_t start, std::int64_t time, const Zone& zone);

}  // namespace membound::intake
