// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The numbers a launch produces, in total and for each source line.
/// Place in the chain: exec fills them -> [counters] -> timing, runtime's JSON, reports.
/// Left out: how an access becomes a number (memory/coalescer, memory/shared_banks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/vgpu/counters/block_work.hpp"

namespace membound::vgpu::counters {

/// One value per counter of counters.def.
struct Counters {
#define MEMBOUND_COUNTER(name, unit, certainty, meaning, formed, metric, source) \
  std::uint64_t name = 0;
#include "grader/vgpu/counters/counters.def"

  Counters& operator+=(const Counters& other);
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// One row of counters.def, for documentation, JSON and generic access.
struct CounterInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view certainty;  ///< "exact", "ptx" or "modelled"
  std::string_view meaning;
  std::string_view formed;
  std::string_view metric;  ///< the profiler metric it is compared with; may be empty
  std::uint64_t Counters::*member;
};

/// Every counter, in the order of counters.def.
[[nodiscard]] std::span<const CounterInfo> all_counters();
/// The row called `name`, or null.
[[nodiscard]] const CounterInfo* find_counter(std::string_view name);

/// The counters of one source line; file "" and line 0 gather what has no line.
struct LineCounters {
  std::string file;
  std::uint32_t line = 0;
  Counters counters;
};

/// What one launch counted. Lines are sorted by file and line, and sum up to `totals` except for
/// launch and cache rows.
struct LaunchCounters {
  Counters totals;
  std::vector<LineCounters> lines;
  LaunchWork work;  ///< empty: not recorded
};

/// `{"global_load_requests": 1, …}`; with `skip_zeros` only what is not zero.
[[nodiscard]] std::string to_json(const Counters& counters, bool skip_zeros);

}  // namespace membound::vgpu::counters
