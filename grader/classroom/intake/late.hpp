// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// When something was handed in, and what being late costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace membound::intake {

/// Seconds since 1970 of "2026-11-30" (the end of that day), "2026-11-30T23:59",
/// "2026-11-30 23:59:59.25 -0800", "…Z", "Monday, 30 November 2026, 11:59 PM"; without an offset in
/// this machine's time zone. Nothing where it is no such text.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

/// UTC, "2026-11-21T06:18:13Z"; empty for 0.
[[nodiscard]] std::string utc_text(std::int64_t time);

/// What an instructor asks for.
struct LatePolicy {
  std::optional<std::int64_t> due;
  std::int64_t grace_seconds = 0;
  double percent_per_day = 0;  ///< lost for each day begun after due date and grace
  bool extended = false;       ///< the due date is this student's own
};

struct Lateness {
  std::int64_t by_seconds = 0;  ///< after due date and grace; 0: in time, or not known
  double factor = 1;            ///< of the points, 0 to 1
};

/// Of something handed in at `time` (0: not known, which is not late).
[[nodiscard]] Lateness lateness(const LatePolicy& policy, std::int64_t time);

}  // namespace membound::intake
