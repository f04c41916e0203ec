// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of lanes that are off, and of threads that do what others do.
#include <algorithm>

#include "grader/vgpu/timing/launch_changes.hpp"
#include "grader/vgpu/timing/mends.hpp"
#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::Counters;

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
  if (share >= kFewLanes || real(c.divergent_branches) < kSeldom * o.blocks()) return std::nullopt;
  Mend mend{o.copy(),
            short_number(100 * real(c.divergent_branches) / real(c.branches)) +
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

}  // namespace membound::vgpu::timing
