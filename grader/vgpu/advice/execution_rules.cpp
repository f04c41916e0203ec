// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What-if rules about how a launch is cut into blocks, lanes that are off, and what warps wait
/// for.
#include <algorithm>
#include <cmath>

#include "grader/base/strings.hpp"
#include "grader/vgpu/advice/what_if.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::advice {
namespace {

using counters::BlockRun;
using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

// --- How a launch is cut into blocks -------------------------------------------------------------

/// The longest block over the average one, by what its slowest warps wait for.
double unevenness(const Observed& o, const LaunchWork& work) {
  const double batch_clocks = o.machine.load_round_ns * o.machine.clock_ghz;
  double longest = 0, sum = 0, blocks = 0;
  for (const BlockRun& run : work.runs) {
    const BlockWork& block = work.kinds[run.kind];
    const double clocks = real(block.chain_clocks) + real(block.load_batches) * batch_clocks;
    longest = std::max(longest, clocks);
    sum += clocks * real(run.blocks);
    blocks += real(run.blocks);
  }
  return sum > 0 ? longest * blocks / sum : 1;
}

constexpr double kUneven = 1.5;

}  // namespace

std::optional<WhatIf> find_idle_sms(const Observed& o) {
  if (o.blocks() >= o.machine.sm_count) return std::nullopt;
  WhatIf what_if{o.copy(), short_number(o.blocks()) + " " + base::noun_after(o.blocks(), "block") +
                               " for " + std::to_string(o.machine.sm_count) + " multiprocessors"};
  const double parts =
      std::min(std::floor(o.slots() / o.blocks()), most_parts(what_if.launch.counters.work));
  if (parts < 2) return std::nullopt;
  split_blocks(what_if.launch, parts);
  return what_if;
}

std::optional<WhatIf> find_uneven_blocks(const Observed& o) {
  if (o.blocks() < o.machine.sm_count) return std::nullopt;
  WhatIf what_if{o.copy(), ""};
  const double uneven = unevenness(o, what_if.launch.counters.work);
  if (uneven < kUneven) return std::nullopt;
  what_if.what = "the longest block takes " + short_number(uneven) + " times the average";
  what_if.launch.removed.uneven_blocks = true;
  return what_if;
}

std::optional<WhatIf> find_tail(const Observed& o) {
  if (o.blocks() <= o.machine.sm_count) return std::nullopt;
  WhatIf what_if{o.copy(), ""};
  if (unevenness(o, what_if.launch.counters.work) >= kUneven) return std::nullopt;
  const double waves = o.blocks() / o.slots();
  what_if.what = short_number(o.blocks()) + " " + base::noun_after(o.blocks(), "block") +
                 " where " + short_number(o.slots()) + " run at once: " + short_number(waves) +
                 " waves take the time of " + short_number(std::ceil(waves));
  if (waves < 1)
    what_if.what = short_number(o.blocks()) + " " + base::noun_after(o.blocks(), "block") +
                   " for " + std::to_string(o.machine.sm_count) +
                   " multiprocessors: some have one more than others";
  what_if.launch.removed.uneven_blocks = true;
  return what_if;
}

std::optional<WhatIf> find_small_blocks(const Observed& o) {
  constexpr double kGoodBlock = 512, kElements = 4;
  const double starting = o.bound_ns(BoundKind::kDispatch);
  if (starting < o.busiest_ns()) return std::nullopt;
  const double threads = o.threads_per_block();
  WhatIf what_if{o.copy(), short_number(o.blocks()) + " " + base::noun_after(o.blocks(), "block") +
                               " of " + short_number(threads) + " " +
                               base::noun_after(threads, "thread") + ": starting them takes " +
                               short_number(starting / 1000) + " us"};
  if (threads <= kGoodBlock / 2)
    join_blocks(what_if.launch, std::floor(kGoodBlock / threads));
  else
    widen_threads(what_if.launch, kElements);
  return what_if;
}

// --- Lanes that are off, and threads that do what others do --------------------------------------

namespace {

/// Instructions and waits, where lanes that were off take part.
void fill_warps(ClockedLaunch& launch, double share) {
  for (BlockWork& block : launch.counters.work.kinds) {
    block.chain_clocks = times(block.chain_clocks, share);
    block.load_batches = times(block.load_batches, share);
    block.shared_requests = times(block.shared_requests, share);
    scale_sums(block, share);
  }
  for (std::uint64_t& count : launch.counters.work.instructions) count = times(count, share);
  Counters& c = launch.counters.totals;
  for (auto part :
       {&Counters::warp_instructions, &Counters::integer_instructions,
        &Counters::float32_instructions, &Counters::float64_instructions,
        &Counters::half_instructions, &Counters::global_load_requests,
        &Counters::global_store_requests, &Counters::global_tag_requests, &Counters::l1_passes})
    c.*part = times(c.*part, share);
}

/// Of 32 lanes, how many work on average: 0 to 1.
double active_share(const Counters& c) {
  return c.warp_instructions == 0 ? 1
                                  : real(c.thread_instructions) / (32 * real(c.warp_instructions));
}

std::string lanes_text(double share) {
  return short_number(32 * share) + " of 32 lanes at work on average";
}

constexpr double kFewLanes = 0.8;

/// How many warps store the same byte, on average. One warp that stores it again and again counts
/// once: that is traffic, not work done twice.
double warps_that_store_a_byte(const Counters& c) {
  constexpr double kLargestLoop = 1.5;
  if (c.distinct_store_bytes > 0) return real(c.warp_store_bytes) / real(c.distinct_store_bytes);
  // Some blocks ran for all: only where warps store once is it known who stored.
  const bool in_a_loop = real(c.global_store_requests) > kLargestLoop * real(c.warps);
  return in_a_loop || c.dram_write_bytes == 0
             ? 1
             : real(c.global_store_bytes) / real(c.dram_write_bytes);
}

}  // namespace

std::optional<WhatIf> find_part_warps(const Observed& o) {
  const double share = active_share(o.counters.totals);
  if (o.shape.block.count() % 32 == 0 || share >= kFewLanes) return std::nullopt;
  WhatIf what_if{o.copy(), "blocks of " + short_number(o.threads_per_block()) + " " +
                               base::noun_after(o.threads_per_block(), "thread") + ": " +
                               lanes_text(share)};
  fill_warps(what_if.launch, share);
  return what_if;
}

std::optional<WhatIf> find_divergence(const Observed& o) {
  const Counters& c = o.counters.totals;
  const double share = active_share(c);
  constexpr double kSeldom = 0.5;  // a block; the guard at the end of a grid is less
  if (share >= kFewLanes || real(c.divergent_branches) < kSeldom * o.blocks()) return std::nullopt;
  WhatIf what_if{o.copy(),
                 short_number(100 * real(c.divergent_branches) / real(c.branches)) +
                     " % of the branches diverge; " + lanes_text(share),
                 line_with_most(o.counters, &Counters::divergent_branches)};
  fill_warps(what_if.launch, share);
  return what_if;
}

std::optional<WhatIf> find_work_twice(const Observed& o) {
  constexpr double kTwice = 1.8;
  const Counters& c = o.counters.totals;
  const double each = warps_that_store_a_byte(c);
  if (each < kTwice) return std::nullopt;
  WhatIf what_if{o.copy(), "each element is computed and stored " + short_number(each) + " times",
                 line_with_most(o.counters, &Counters::global_store_requests)};
  for (const counters::CounterInfo& row : counters::all_counters()) {
    if (row.name.starts_with("dram_")) continue;
    std::uint64_t& count = what_if.launch.counters.totals.*row.member;
    count = times(count, 1 / each);
  }
  fetch_once(what_if.launch.counters.totals, 0);
  for (std::uint64_t& count : what_if.launch.counters.work.instructions)
    count = times(count, 1 / each);
  // So many blocks less, but no fewer than run at once: then each has less to do.
  const double left = o.blocks() / each;
  const double kept = std::max(left, std::min(o.blocks(), o.slots()));
  scale_grid(what_if.launch, kept / o.blocks());
  for (BlockWork& block : what_if.launch.counters.work.kinds) {
    scale_path(block, left / kept);
    scale_sums(block, left / kept);
  }
  return what_if;
}

// --- What warps wait for -------------------------------------------------------------------------

namespace {

double waiting_ns(const Observed& o) {
  return o.bound_ns(BoundKind::kLatency) + o.bound_ns(BoundKind::kIdleSms);
}

/// Few warps, by the kernel's needs or by the size of its grid.
bool is_thin(const Observed& o) {
  constexpr double kHalf = 0.5;
  return o.prediction.occupancy.share <= kHalf || o.filled() < kHalf;
}

/// Do warps wait longer than they work, also without their local memory? Its own rule tells that.
bool waits_for_global_memory(const Observed& o) {
  if (o.counters.totals.local_load_rounds == 0) return waiting_ns(o) >= o.busiest_ns();
  const auto what_if = find_local_memory(o);
  const ClockedLaunch& launch = what_if->launch;
  const Prediction without = predict(o.machine, launch.counters, launch.shape, launch.removed);
  const Observed rest{o.machine, launch.counters, launch.shape, without};
  return waiting_ns(rest) >= rest.busiest_ns();
}

}  // namespace

std::optional<WhatIf> find_low_occupancy(const Observed& o) {
  if (!is_thin(o) || o.blocks() < o.machine.sm_count) return std::nullopt;
  // Where warps do not wait, more of them would queue all the same.
  if (o.bound_ns(BoundKind::kLatency) < o.busiest_ns() || !waits_for_global_memory(o))
    return std::nullopt;
  const Occupancy& occupancy = o.prediction.occupancy;
  WhatIf what_if{o.copy(), ""};
  LaunchShape& shape = what_if.launch.shape;
  std::string limiter(to_string(occupancy.limiter));
  if (o.blocks() < o.slots()) {
    limiter = "the size of the grid";
    const double parts =
        std::min(std::floor(o.slots() / o.blocks()), most_parts(what_if.launch.counters.work));
    if (parts < 2) return std::nullopt;
    split_blocks(what_if.launch, parts);
  } else if (occupancy.limiter == Limiter::kBlocks) {
    constexpr double kGoodBlock = 256;
    join_blocks(what_if.launch, std::floor(kGoodBlock / o.threads_per_block()));
  } else {
    shape.registers_per_thread = std::min(shape.registers_per_thread, 32U);
    const double blocks = max_warps_per_sm(o.machine) / std::ceil(o.threads_per_block() / 32);
    const double each = o.machine.shared_per_sm_bytes / std::max(1.0, std::floor(blocks));
    shape.shared_bytes = std::min(
        shape.shared_bytes,
        static_cast<std::uint32_t>(std::max(0.0, each - o.machine.shared_reserved_bytes - 128)));
  }
  what_if.what = short_number(100 * o.filled()) + " % of the warps that fit, limited by " + limiter;
  return what_if;
}

std::optional<WhatIf> find_waiting_blocks(const Observed& o) {
  if (o.counters.totals.block_wait_turns == 0) return std::nullopt;
  WhatIf what_if{o.copy(), "most blocks only wait for a word of another block, which takes " +
                               short_number(o.bound_ns(BoundKind::kHandOvers) / 1000) + " us"};
  what_if.launch.counters.totals.block_wait_turns = 0;
  return what_if;
}

std::optional<WhatIf> find_barriers(const Observed& o) {
  const auto* const line = line_with_most(o.counters, &Counters::block_barriers);
  if (line == nullptr) return std::nullopt;
  WhatIf what_if{o.copy(), "", line};
  const double each = real(o.counters.totals.block_barriers) / real(o.counters.totals.warps);
  if (each <= 1) return std::nullopt;
  what_if.what = short_number(each) + " barriers a block";
  for (BlockWork& block : what_if.launch.counters.work.kinds) {
    block.barriers_after_loads = block.other_barriers = 0;
    // No warp waits for the slowest of a phase; what is left is the slowest of all.
    block.chain_clocks = std::min(block.chain_clocks, block.warp_chain_clocks);
    block.load_batches = std::min(block.load_batches, block.warp_load_batches);
    block.shared_requests = std::min(block.shared_requests, block.warp_shared_requests);
  }
  auto& instructions = what_if.launch.counters.work.instructions;
  const auto barrier = static_cast<std::size_t>(program::Cost::kBarrier);
  if (barrier < instructions.size()) instructions[barrier] = 0;
  return what_if;
}

std::optional<WhatIf> find_few_bytes_in_flight(const Observed& o) {
  constexpr double kTogether = 4;  // loads
  if (is_thin(o) || !waits_for_global_memory(o)) return std::nullopt;
  WhatIf what_if{o.copy(), "", line_with_most(o.counters, &Counters::global_load_rounds)};
  double batches = 0, in_a_row = 0;
  for (const BlockRun& run : what_if.launch.counters.work.runs) {
    const BlockWork& block = what_if.launch.counters.work.kinds[run.kind];
    batches += real(run.blocks * block.all_load_batches);
    in_a_row = std::max(in_a_row, real(block.load_batches));
  }
  const Counters& c = o.counters.totals;
  batches *= 1 - local_batches_share(c);
  if (batches == 0 || what_if.line == nullptr) return std::nullopt;
  const double warps = o.filled() * max_warps_per_sm(o.machine);
  const double in_flight = warps * real(c.global_load_bytes + c.async_copy_bytes) / batches;
  const double needed = o.machine.dram_reached_gbs * o.machine.load_round_ns / o.machine.sm_count;
  if (in_flight >= needed) return std::nullopt;
  what_if.what = short_number(in_flight) + " bytes on their way to a multiprocessor, " +
                 short_number(needed) + " would keep memory busy";
  if (in_a_row >= kTogether) {
    for (BlockWork& block : what_if.launch.counters.work.kinds) {
      block.load_batches = times(block.load_batches, 1 / kTogether);
      block.all_load_batches = times(block.all_load_batches, 1 / kTogether);
    }
  } else {
    widen_threads(what_if.launch, kTogether);
  }
  return what_if;
}

}  // namespace membound::vgpu::advice
