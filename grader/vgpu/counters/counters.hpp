// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What can be counted: the numbers a launch produces, in total, for each source line, at one
/// static instruction and block by block; and the rules of the guided analysis as data. How an
/// access becomes a number is said by memory/coalescer and memory/shared_banks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace membound::vgpu::counters {

/// One block. A phase ends at a barrier of the whole block, or at the block's end; its slowest warp
/// is the one on its critical path. Large numbers keep six binary digits, so that blocks which
/// differ by a trifle are of one kind.
struct BlockWork {
  // On the critical path, summed over phases.
  std::uint64_t chain_clocks = 0;  ///< waiting for results other than those of global loads
  std::uint64_t load_batches = 0;  ///< waits for global memory
  std::uint64_t shared_requests = 0;
  std::uint64_t barriers_after_loads = 0;  ///< ends of phases in which some warp loads
  std::uint64_t other_barriers = 0;
  // Of the warp that is the slowest from the block's start to its end: what would be on the
  // critical path if no warp waited for another.
  std::uint64_t warp_chain_clocks = 0;
  std::uint64_t warp_load_batches = 0;
  std::uint64_t warp_shared_requests = 0;
  // All its warps together.
  std::uint64_t issue_slots = 0;  ///< in quarters
  std::uint64_t all_load_batches = 0;
  std::uint64_t all_shared_requests = 0;
  std::uint64_t early_warps = 0;  ///< those that leave before half of the block's time is over

  friend bool operator==(const BlockWork&, const BlockWork&) = default;
};

/// Its fields, in the order in which the counters file has them.
inline constexpr std::uint64_t BlockWork::*kBlockWorkFields[] = {
    &BlockWork::chain_clocks,        &BlockWork::load_batches,
    &BlockWork::shared_requests,     &BlockWork::barriers_after_loads,
    &BlockWork::other_barriers,      &BlockWork::warp_chain_clocks,
    &BlockWork::warp_load_batches,   &BlockWork::warp_shared_requests,
    &BlockWork::issue_slots,         &BlockWork::all_load_batches,
    &BlockWork::all_shared_requests, &BlockWork::early_warps};
static_assert(sizeof(BlockWork) == std::size(kBlockWorkFields) * sizeof(std::uint64_t),
              "a field that the counters file does not have is missing above");

/// Blocks of one kind that follow one another in launch order.
struct BlockRun {
  std::size_t kind = 0;
  std::uint64_t blocks = 0;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// All blocks of a launch.
struct LaunchWork {
  std::vector<BlockWork> kinds;
  std::vector<BlockRun> runs;
  std::vector<std::uint64_t> instructions;  ///< of warps, by cost class (program/costs.def)
};

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

/// One field per tally and per counted row of counters.def.
struct StepCounts {
#define MEMBOUND_TALLY(name, what) std::uint64_t name = 0;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) std::uint64_t name = 0;
#include "grader/vgpu/counters/counters.def"

  StepCounts& operator+=(const StepCounts& other) {
#define MEMBOUND_TALLY(name, what) name += other.name;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) name += other.name;
#include "grader/vgpu/counters/counters.def"
    return *this;
  }
};

/// One row of rules.def.
struct RuleInfo {
  std::string_view name;
  std::string_view fault;
  std::string_view counter;  ///< a row of counters.def
  std::string_view remedy;   ///< an order
  std::string_view handout;
  std::string_view section;
};

/// All rules, in the order of rules.def.
inline constexpr RuleInfo kRules[] = {
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) \
  {name, fault, #counter, remedy, handout, section},
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE
};

}  // namespace membound::vgpu::counters
