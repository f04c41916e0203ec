// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of what warps wait for.
#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/launch_changes.hpp"
#include "grader/vgpu/timing/mends.hpp"
#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockRun;
using counters::BlockWork;
using counters::Counters;

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
  const auto mend = find_local_memory(o);
  const ClockedLaunch& launch = mend->launch;
  const Prediction without = predict(o.machine, launch.counters, launch.shape, launch.removed);
  const Observed rest{o.machine, launch.counters, launch.shape, without};
  return waiting_ns(rest) >= rest.busiest_ns();
}

}  // namespace

std::optional<Mend> find_low_occupancy(const Observed& o) {
  if (!is_thin(o) || o.blocks() < o.machine.sm_count) return std::nullopt;
  // Where warps do not wait, more of them would queue all the same.
  if (o.bound_ns(BoundKind::kLatency) < o.busiest_ns() || !waits_for_global_memory(o))
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

std::optional<Mend> find_barriers(const Observed& o) {
  const auto* const line = line_with_most(o.counters, &Counters::block_barriers);
  if (line == nullptr) return std::nullopt;
  Mend mend{o.copy(), "", line};
  const double each = real(o.counters.totals.block_barriers) / real(o.counters.totals.warps);
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
    rounds += real(run.blocks * block.all_load_rounds);
    in_a_row = std::max(in_a_row, real(block.load_rounds));
  }
  const Counters& c = o.counters.totals;
  rounds *= 1 - local_rounds_share(c);
  if (rounds == 0 || mend.line == nullptr) return std::nullopt;
  const double warps = o.filled() * max_warps_per_sm(o.machine);
  const double in_flight = warps * real(c.global_load_bytes + c.async_copy_bytes) / rounds;
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
