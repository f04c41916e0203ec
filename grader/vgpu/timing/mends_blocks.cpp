// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of how a launch is cut into blocks.
#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/launch_changes.hpp"
#include "grader/vgpu/timing/mends.hpp"
#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockRun;
using counters::BlockWork;
using counters::LaunchWork;

/// The longest block over the average one, by what its slowest warps wait for.
double unevenness(const Observed& o, const LaunchWork& work) {
  const double round_clocks = o.machine.load_round_ns * o.machine.clock_ghz;
  double longest = 0, sum = 0, blocks = 0;
  for (const BlockRun& run : work.runs) {
    const BlockWork& block = work.kinds[run.kind];
    const double clocks = real(block.chain_clocks) + real(block.load_rounds) * round_clocks;
    longest = std::max(longest, clocks);
    sum += clocks * real(run.blocks);
    blocks += real(run.blocks);
  }
  return sum > 0 ? longest * blocks / sum : 1;
}

constexpr double kUneven = 1.5;

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
  const double starting = o.bound_ns(BoundKind::kDispatch);
  if (starting < o.busiest_ns()) return std::nullopt;
  const double threads = o.threads_per_block();
  Mend mend{o.copy(), short_number(o.blocks()) + " blocks of " + short_number(threads) +
                          " threads: starting them takes " + short_number(starting / 1000) + " us"};
  if (threads <= kGoodBlock / 2)
    join_blocks(mend.launch, std::floor(kGoodBlock / threads));
  else
    widen_threads(mend.launch, kElements);
  return mend;
}

}  // namespace membound::vgpu::timing
