// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of how a launch is cut into blocks and warps, and of what warps wait for.
#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/mends.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockRun;
using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

double as_real(std::uint64_t value) { return static_cast<double>(value); }

/// What is there stays there: no less than 1 of it.
std::uint64_t times(std::uint64_t value, double factor) {
  if (value == 0) return 0;
  return static_cast<std::uint64_t>(std::max(1.0, std::round(as_real(value) * factor)));
}

void scale_grid(ClockedLaunch& launch, double factor) {
  const double blocks = std::max(1.0, std::round(as_real(launch.shape.grid.count()) * factor));
  launch.shape.grid = {static_cast<std::uint32_t>(std::min(blocks, 2147483647.0)), 1, 1};
  for (BlockRun& run : launch.counters.work.runs) run.blocks = times(run.blocks, factor);
}

/// What the slowest warp of each phase does, `factor` times.
void scale_path(BlockWork& block, double factor) {
  for (std::uint64_t* part :
       {&block.chain_clocks, &block.load_rounds, &block.shared_requests,
        &block.barriers_after_loads, &block.other_barriers, &block.warp_chain_clocks,
        &block.warp_load_rounds, &block.warp_shared_requests})
    *part = times(*part, factor);
}

/// What all warps of a block do together.
void scale_sums(BlockWork& block, double factor) {
  for (std::uint64_t* part :
       {&block.issue_slots, &block.all_load_rounds, &block.all_shared_requests})
    *part = times(*part, factor);
}

/// Each block becomes `parts` blocks that do it together.
void split_blocks(ClockedLaunch& launch, double parts) {
  scale_grid(launch, parts);
  for (BlockWork& block : launch.counters.work.kinds) {
    scale_path(block, 1 / parts);
    scale_sums(block, 1 / parts);
  }
}

/// `count` blocks become one of as many times the warps.
void join_blocks(ClockedLaunch& launch, double count) {
  scale_grid(launch, 1 / count);
  launch.shape.block = {static_cast<std::uint32_t>(as_real(launch.shape.block.count()) * count), 1,
                        1};
  launch.shape.shared_bytes = static_cast<std::uint32_t>(launch.shape.shared_bytes * count);
  for (BlockWork& block : launch.counters.work.kinds) {
    scale_sums(block, count);
    block.early_warps = times(block.early_warps, count);
  }
}

/// How many parts the work of a block can be cut into: its waits in a row, or stretches of 64
/// clocks, which are about ten instructions.
double most_parts(const LaunchWork& work) {
  double most = 1;
  for (const BlockWork& block : work.kinds)
    most = std::max({most, as_real(block.load_rounds), as_real(block.chain_clocks) / 64});
  return most;
}

/// Instructions and waits, where lanes that were off take part.
void fill_warps(ClockedLaunch& launch, double share) {
  for (BlockWork& block : launch.counters.work.kinds) {
    block.chain_clocks = times(block.chain_clocks, share);
    block.load_rounds = times(block.load_rounds, share);
    block.shared_requests = times(block.shared_requests, share);
    scale_sums(block, share);
  }
  for (std::uint64_t& count : launch.counters.work.instructions) count = times(count, share);
  Counters& c = launch.counters.totals;
  for (auto part : {&Counters::warp_instructions, &Counters::integer_instructions,
                    &Counters::float32_instructions, &Counters::float64_instructions,
                    &Counters::half_instructions, &Counters::global_load_requests,
                    &Counters::global_store_requests, &Counters::global_tag_requests})
    c.*part = times(c.*part, share);
}

/// Of 32 lanes, how many work on average: 0 to 1.
double active_share(const Counters& c) {
  return c.warp_instructions == 0
             ? 1
             : as_real(c.thread_instructions) / (32 * as_real(c.warp_instructions));
}

std::string lanes_text(double share) {
  return short_number(32 * share) + " of 32 lanes at work on average";
}

constexpr double kFewLanes = 0.8;

/// The longest block over the average one, by what its slowest warps wait for.
double unevenness(const Observed& o, const LaunchWork& work) {
  const double round_clocks = o.machine.load_round_ns * o.machine.clock_ghz;
  double longest = 0, sum = 0, blocks = 0;
  for (const BlockRun& run : work.runs) {
    const BlockWork& block = work.kinds[run.kind];
    const double clocks = as_real(block.chain_clocks) + as_real(block.load_rounds) * round_clocks;
    longest = std::max(longest, clocks);
    sum += clocks * as_real(run.blocks);
    blocks += as_real(run.blocks);
  }
  return sum > 0 ? longest * blocks / sum : 1;
}

constexpr double kUneven = 1.5;

double bound_ns(const Observed& o, BoundKind kind) {
  for (const Bound& bound : o.prediction.bounds)
    if (bound.kind == kind) return bound.ns;
  return 0;
}

double waiting_ns(const Observed& o) {
  return bound_ns(o, BoundKind::kLatency) + bound_ns(o, BoundKind::kIdleSms);
}

/// The longest of the terms that are no waiting.
double busiest_ns(const Observed& o) {
  double most = 0;
  for (const Bound& bound : o.prediction.bounds)
    if (bound.kind != BoundKind::kLatency && bound.kind != BoundKind::kIdleSms &&
        bound.kind != BoundKind::kLaunch)
      most = std::max(most, bound.ns);
  return most;
}

/// Few warps, by the kernel's needs or by the size of its grid.
bool is_thin(const Observed& o) {
  constexpr double kHalf = 0.5;
  return o.prediction.occupancy.share <= kHalf || o.filled() < kHalf;
}

/// How many warps store the same byte, on average. One warp that stores it again and again counts
/// once: that is traffic, not work done twice.
double warps_that_store_a_byte(const Counters& c) {
  constexpr double kLargestLoop = 1.5;
  if (c.distinct_store_bytes > 0)
    return as_real(c.warp_store_bytes) / as_real(c.distinct_store_bytes);
  // Some blocks ran for all: only where warps store once is it known who stored.
  const bool in_a_loop = as_real(c.global_store_requests) > kLargestLoop * as_real(c.warps);
  return in_a_loop || c.dram_write_bytes == 0
             ? 1
             : as_real(c.global_store_bytes) / as_real(c.dram_write_bytes);
}

/// Do warps wait longer than they work, also without their local memory? Its own rule tells that.
bool waits_for_global_memory(const Observed& o) {
  if (o.counters.totals.local_load_rounds == 0) return waiting_ns(o) >= busiest_ns(o);
  const auto mend = find_local_memory(o);
  const ClockedLaunch& launch = mend->launch;
  const Prediction without = predict(o.machine, launch.counters, launch.shape, launch.removed);
  const Observed rest{o.machine, launch.counters, launch.shape, without};
  return waiting_ns(rest) >= busiest_ns(rest);
}

/// Each thread does the work of `count`, their loads at once.
void widen_threads(ClockedLaunch& launch, double count) {
  scale_grid(launch, 1 / count);
  for (BlockWork& block : launch.counters.work.kinds) {
    block.issue_slots = times(block.issue_slots, count);
    block.all_shared_requests = times(block.all_shared_requests, count);
  }
}

}  // namespace

std::optional<Mend> find_idle_sms(const Observed& o) {
  if (o.blocks() >= o.machine.sm_count) return std::nullopt;
  Mend mend{o.copy(), short_number(o.blocks()) + " blocks for " +
                          std::to_string(o.machine.sm_count) + " multiprocessors"};
  const double parts =
      std::min(std::floor(o.places() / o.blocks()), most_parts(mend.launch.counters.work));
  if (parts < 2) return std::nullopt;
  split_blocks(mend.launch, parts);
  return mend;
}

std::optional<Mend> find_uneven_blocks(const Observed& o) {
  if (o.blocks() < o.machine.sm_count) return std::nullopt;
  Mend mend{o.copy(), ""};
  const double uneven = unevenness(o, mend.launch.counters.work);
  if (uneven < kUneven) return std::nullopt;
  mend.what = "the longest block takes " + short_number(uneven) + " times the average";
  mend.launch.removed.uneven_blocks = true;
  return mend;
}

std::optional<Mend> find_tail(const Observed& o) {
  if (o.blocks() <= o.machine.sm_count) return std::nullopt;
  Mend mend{o.copy(), ""};
  if (unevenness(o, mend.launch.counters.work) >= kUneven) return std::nullopt;
  const double waves = o.blocks() / o.places();
  mend.what = short_number(o.blocks()) + " blocks where " + short_number(o.places()) +
              " run at once: " + short_number(waves) + " waves take the time of " +
              short_number(std::ceil(waves));
  if (waves < 1)
    mend.what = short_number(o.blocks()) + " blocks for " + std::to_string(o.machine.sm_count) +
                " multiprocessors: some have one more than others";
  mend.launch.removed.uneven_blocks = true;
  return mend;
}

std::optional<Mend> find_small_blocks(const Observed& o) {
  constexpr double kGoodBlock = 512, kElements = 4;
  const double starting = bound_ns(o, BoundKind::kDispatch);
  if (starting < busiest_ns(o)) return std::nullopt;
  const double threads = o.threads_per_block();
  Mend mend{o.copy(), short_number(o.blocks()) + " blocks of " + short_number(threads) +
                          " threads: starting them takes " + short_number(starting / 1000) + " us"};
  if (threads <= kGoodBlock / 2)
    join_blocks(mend.launch, std::floor(kGoodBlock / threads));
  else
    widen_threads(mend.launch, kElements);
  return mend;
}

std::optional<Mend> find_low_occupancy(const Observed& o) {
  if (!is_thin(o) || o.blocks() < o.machine.sm_count) return std::nullopt;
  // Where warps do not wait, more of them would queue all the same.
  if (bound_ns(o, BoundKind::kLatency) < busiest_ns(o) || !waits_for_global_memory(o))
    return std::nullopt;
  const Occupancy& occupancy = o.prediction.occupancy;
  Mend mend{o.copy(), ""};
  LaunchShape& shape = mend.launch.shape;
  std::string limiter(to_string(occupancy.limiter));
  if (o.blocks() < o.places()) {
    limiter = "the size of the grid";
    const double parts =
        std::min(std::floor(o.places() / o.blocks()), most_parts(mend.launch.counters.work));
    if (parts < 2) return std::nullopt;
    split_blocks(mend.launch, parts);
  } else if (occupancy.limiter == Limiter::kBlocks) {
    constexpr double kGoodBlock = 256;
    join_blocks(mend.launch, std::floor(kGoodBlock / o.threads_per_block()));
  } else {
    shape.registers_per_thread = std::min(shape.registers_per_thread, 32U);
    const double blocks = max_warps_per_sm(o.machine) / std::ceil(o.threads_per_block() / 32);
    const double each = o.machine.shared_per_sm_bytes / std::max(1.0, std::floor(blocks));
    shape.shared_bytes = std::min(
        shape.shared_bytes,
        static_cast<std::uint32_t>(std::max(0.0, each - o.machine.shared_reserved_bytes - 128)));
  }
  mend.what = short_number(100 * o.filled()) + " % of the warps that fit, limited by " + limiter;
  return mend;
}

std::optional<Mend> find_part_warps(const Observed& o) {
  const double share = active_share(o.counters.totals);
  if (o.shape.block.count() % 32 == 0 || share >= kFewLanes) return std::nullopt;
  Mend mend{o.copy(),
            "blocks of " + short_number(o.threads_per_block()) + " threads: " + lanes_text(share)};
  fill_warps(mend.launch, share);
  return mend;
}

std::optional<Mend> find_divergence(const Observed& o) {
  const Counters& c = o.counters.totals;
  const double share = active_share(c);
  constexpr double kSeldom = 0.5;  // a block; the guard at the end of a grid is less
  if (share >= kFewLanes || as_real(c.divergent_branches) < kSeldom * o.blocks())
    return std::nullopt;
  Mend mend{o.copy(),
            short_number(100 * as_real(c.divergent_branches) / as_real(c.branches)) +
                " % of the branches diverge; " + lanes_text(share),
            line_with_most(o.counters, &Counters::divergent_branches)};
  fill_warps(mend.launch, share);
  return mend;
}

std::optional<Mend> find_work_twice(const Observed& o) {
  constexpr double kTwice = 1.8;
  const Counters& c = o.counters.totals;
  const double each = warps_that_store_a_byte(c);
  if (each < kTwice) return std::nullopt;
  Mend mend{o.copy(), "each element is computed and stored " + short_number(each) + " times",
            line_with_most(o.counters, &Counters::global_store_requests)};
  for (const counters::CounterInfo& row : counters::all_counters()) {
    if (row.name.starts_with("dram_")) continue;
    std::uint64_t& count = mend.launch.counters.totals.*row.member;
    count = times(count, 1 / each);
  }
  fetch_once(mend.launch.counters.totals, 0);
  for (std::uint64_t& count : mend.launch.counters.work.instructions)
    count = times(count, 1 / each);
  // So many blocks less, but no fewer than run at once: then each has less to do.
  const double left = o.blocks() / each;
  const double kept = std::max(left, std::min(o.blocks(), o.places()));
  scale_grid(mend.launch, kept / o.blocks());
  for (BlockWork& block : mend.launch.counters.work.kinds) {
    scale_path(block, left / kept);
    scale_sums(block, left / kept);
  }
  return mend;
}

std::optional<Mend> find_barriers(const Observed& o) {
  const auto* const line = line_with_most(o.counters, &Counters::block_barriers);
  if (line == nullptr) return std::nullopt;
  Mend mend{o.copy(), "", line};
  const double each = as_real(o.counters.totals.block_barriers) / as_real(o.counters.totals.warps);
  if (each <= 1) return std::nullopt;
  mend.what = short_number(each) + " barriers a block";
  for (BlockWork& block : mend.launch.counters.work.kinds) {
    block.barriers_after_loads = block.other_barriers = 0;
    // No warp waits for the slowest of a phase; what is left is the slowest of all.
    block.chain_clocks = std::min(block.chain_clocks, block.warp_chain_clocks);
    block.load_rounds = std::min(block.load_rounds, block.warp_load_rounds);
    block.shared_requests = std::min(block.shared_requests, block.warp_shared_requests);
  }
  auto& instructions = mend.launch.counters.work.instructions;
  const auto barrier = static_cast<std::size_t>(program::Cost::kBarrier);
  if (barrier < instructions.size()) instructions[barrier] = 0;
  return mend;
}

std::optional<Mend> find_few_bytes_in_flight(const Observed& o) {
  constexpr double kTogether = 4;  // loads
  if (is_thin(o) || !waits_for_global_memory(o)) return std::nullopt;
  Mend mend{o.copy(), "", line_with_most(o.counters, &Counters::global_load_rounds)};
  double rounds = 0, in_a_row = 0;
  for (const BlockRun& run : mend.launch.counters.work.runs) {
    const BlockWork& block = mend.launch.counters.work.kinds[run.kind];
    rounds += as_real(run.blocks * block.all_load_rounds);
    in_a_row = std::max(in_a_row, as_real(block.load_rounds));
  }
  const Counters& c = o.counters.totals;
  rounds *= 1 - local_rounds_share(c);
  if (rounds == 0 || mend.line == nullptr) return std::nullopt;
  const double warps = o.filled() * max_warps_per_sm(o.machine);
  const double in_flight = warps * as_real(c.global_load_bytes + c.async_copy_bytes) / rounds;
  const double needed = o.machine.dram_reached_gbs * o.machine.load_round_ns / o.machine.sm_count;
  if (in_flight >= needed) return std::nullopt;
  mend.what = short_number(in_flight) + " bytes on their way to a multiprocessor, " +
              short_number(needed) + " would keep memory busy";
  if (in_a_row >= kTogether) {
    for (BlockWork& block : mend.launch.counters.work.kinds) {
      block.load_rounds = times(block.load_rounds, 1 / kTogether);
      block.all_load_rounds = times(block.all_load_rounds, 1 / kTogether);
    }
  } else {
    widen_threads(mend.launch, kTogether);
  }
  return mend;
}

}  // namespace membound::vgpu::timing
