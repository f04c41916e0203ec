// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of shared and local memory, of atomics, and of bytes that are moved again.
#include <algorithm>

#include "grader/vgpu/timing/launch_changes.hpp"
#include "grader/vgpu/timing/mends.hpp"
#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::Counters;
using counters::LineCounters;

/// How often each byte is moved: bytes asked for over bytes that differ.
double times_moved(std::uint64_t asked, std::uint64_t different) {
  return different == 0 ? 1 : std::max(1.0, real(asked) / real(different));
}

/// Loads that a cache answers a second time, held in shared memory instead.
void keep_loads(ClockedLaunch& launch, double each) {
  Counters& c = launch.counters.totals;
  const std::uint64_t saved = share_of(c.global_load_requests, 1 - 1 / each);
  const std::uint64_t saved_sectors = share_of(c.global_load_sectors, 1 - 1 / each);
  c.global_load_requests -= saved;
  c.global_load_sectors -= saved_sectors;
  c.theoretical_global_sectors = less(c.theoretical_global_sectors, saved_sectors);
  c.global_tag_requests = less(c.global_tag_requests, saved);
  const std::uint64_t read_before = c.l2_read_sectors;
  c.l2_read_sectors = std::min(c.l2_read_sectors, share_of(c.dram_read_bytes, 1 / kSectorBytes));
  fetch_once(c, read_before);
  c.l1_load_hit_sectors = c.l1_load_joined_sectors = 0;
  c.ptx_shared_wavefronts += saved;
  c.ptx_ideal_shared_wavefronts += saved;
  const double blocks = std::max(1.0, real(launch.shape.grid.count()));
  for (BlockWork& block : launch.counters.work.kinds) {
    block.load_rounds = std::min(block.load_rounds,
                                 std::max<std::uint64_t>(1, share_of(block.load_rounds, 1 / each)));
    block.all_load_rounds = share_of(block.all_load_rounds, 1 / each);
    block.all_shared_requests += static_cast<std::uint64_t>(real(saved) / blocks);
  }
}

void keep_stores(ClockedLaunch& launch, double each) {
  Counters& c = launch.counters.totals;
  for (auto part : {&Counters::global_store_requests, &Counters::global_store_sectors,
                    &Counters::global_store_lines, &Counters::global_store_bytes,
                    &Counters::l2_write_sectors, &Counters::partial_store_sectors,
                    &Counters::filled_store_sectors, &Counters::merged_store_sectors}) {
    const std::uint64_t saved = share_of(c.*part, 1 - 1 / each);
    c.*part -= saved;
    if (part == &Counters::global_store_sectors)
      c.theoretical_global_sectors = less(c.theoretical_global_sectors, saved);
    if (part == &Counters::global_store_lines)
      c.global_tag_requests = less(c.global_tag_requests, saved);
  }
}

}  // namespace

std::optional<Mend> find_bank_conflicts(const Observed& o) {
  Mend mend{o.copy(), ""};
  std::uint64_t all = 0, of_vectors = 0, worst = 0;
  for (const LineCounters& line : o.counters.lines) {
    const Counters& l = line.counters;
    if (l.shared_atomic_requests > 0) continue;  // lanes that want one word are no conflict
    const std::uint64_t extra = less(l.ptx_shared_wavefronts, l.ptx_ideal_shared_wavefronts);
    all += extra;
    // Rows that are padded against conflicts are no longer aligned: their words come one by one.
    if (extra > 0) of_vectors += l.vector_shared_wavefronts;
    if (extra <= worst) continue;
    worst = extra;
    mend.line = &line;
    const double requests =
        real(l.ptx_shared_load_requests + l.ptx_shared_store_requests + l.async_copy_requests);
    mend.what = short_number(real(l.ptx_shared_wavefronts) / requests) +
                " wavefronts a request where " +
                short_number(real(l.ptx_ideal_shared_wavefronts) / requests) + " would do";
  }
  if (all == 0) return std::nullopt;
  Counters& c = mend.launch.counters.totals;
  c.ptx_shared_wavefronts = less(c.ptx_shared_wavefronts, all);
  c.vector_shared_wavefronts = less(c.vector_shared_wavefronts, of_vectors);
  return mend;
}

std::optional<Mend> find_local_memory(const Observed& o) {
  Mend mend{o.copy(), ""};
  Counters& c = mend.launch.counters.totals;
  const std::uint64_t requests = c.local_load_requests + c.local_store_requests;
  if (requests == 0) return std::nullopt;
  mend.line =
      line_with_most(o.counters, c.local_load_requests > 0 ? &Counters::local_load_requests
                                                           : &Counters::local_store_requests);
  mend.what = short_number(real(requests) / std::max(1.0, real(c.warps))) +
              " accesses a warp to arrays in local memory";
  // Each goes with instructions that compute its address.
  constexpr double kOfAddress = 2;
  const double instructions = std::max(1.0, real(c.warp_instructions));
  const double kept = std::max(0.2, 1 - (1 + kOfAddress) * real(requests) / instructions);
  const auto addresses = static_cast<std::uint64_t>(kOfAddress * real(requests));
  c.integer_instructions = less(c.integer_instructions, addresses);
  for (std::uint64_t& count : mend.launch.counters.work.instructions) count = share_of(count, kept);
  // A warp waits for a word of its array as for any other that L1 has.
  const double other_rounds = 1 - local_rounds_share(c);
  for (BlockWork& block : mend.launch.counters.work.kinds) {
    block.issue_slots = share_of(block.issue_slots, kept);
    block.chain_clocks = share_of(block.chain_clocks, kept);
    block.load_rounds = share_of(block.load_rounds, other_rounds);
    block.all_load_rounds = share_of(block.all_load_rounds, other_rounds);
  }
  c.local_load_rounds = 0;
  c.l2_write_sectors = less(c.l2_write_sectors, c.local_store_sectors);
  c.local_load_requests = c.local_load_sectors = 0;
  c.local_store_requests = c.local_store_sectors = c.partial_local_store_sectors = 0;
  return mend;
}

std::optional<Mend> find_same_address_atomics(const Observed& o) {
  Mend mend{o.copy(), ""};
  Counters& c = mend.launch.counters.totals;
  const std::uint64_t left = o.shape.grid.count();
  if (c.hottest_atomic_address_count <= left) return std::nullopt;
  mend.line = line_with_most(o.counters, &Counters::atomic_lanes);
  mend.what =
      short_number(real(c.hottest_atomic_address_count)) + " atomics take turns at one address";
  const std::uint64_t sectors = c.atomic_sectors + c.reduction_sectors;
  c.l2_write_sectors = less(c.l2_write_sectors, sectors);
  c.theoretical_global_sectors = less(c.theoretical_global_sectors, sectors);
  const bool floats = c.float_atomic_lanes > 0;
  c.atomic_requests = c.atomic_sectors = 0;
  c.reduction_requests = c.reduction_sectors = c.hottest_atomic_address_count = left;
  c.busiest_atomic_piece_sectors = c.busiest_atomic_sector_turns = c.atomic_lanes = left;
  c.float_atomic_lanes = floats ? left : 0;
  return mend;
}

std::optional<Mend> find_shared_atomics(const Observed& o) {
  Mend mend{o.copy(), ""};
  Counters& c = mend.launch.counters.totals;
  if (c.shared_atomic_wavefronts <= c.shared_atomic_requests) return std::nullopt;
  mend.line = line_with_most(o.counters, &Counters::shared_atomic_wavefronts);
  mend.what = short_number(real(c.shared_atomic_wavefronts) / real(c.shared_atomic_requests)) +
              " turns an atomic where 1 would do";
  // One for each warp: its lanes add up by shuffles.
  for (const LineCounters& line : o.counters.lines) {
    const Counters& l = line.counters;
    if (l.shared_atomic_requests == 0) continue;
    c.ptx_shared_wavefronts = less(c.ptx_shared_wavefronts, l.ptx_shared_wavefronts);
    c.ptx_ideal_shared_wavefronts =
        less(c.ptx_ideal_shared_wavefronts, l.ptx_ideal_shared_wavefronts);
  }
  const std::uint64_t left = std::min(c.shared_atomic_requests, c.warps);
  c.ptx_shared_wavefronts += left;
  c.ptx_ideal_shared_wavefronts += left;
  c.shared_atomic_wavefronts = c.shared_atomic_requests = left;
  return mend;
}

std::optional<Mend> find_redundant_traffic(const Observed& o) {
  constexpr double kOften = 1.9;
  Mend mend{o.copy(), ""};
  const Counters c = o.counters.totals;
  const double loads = times_moved(c.global_load_bytes, c.dram_read_bytes);
  // What different warps store in the same place is work that is done twice.
  const bool in_a_loop = real(c.global_store_requests) > 1.5 * real(c.warps);
  const double stores = c.warp_store_bytes > 0
                            ? times_moved(c.global_store_bytes, c.warp_store_bytes)
                        : in_a_loop ? times_moved(c.global_store_bytes, c.dram_write_bytes)
                                    : 1;
  if (std::max(loads, stores) < kOften) return std::nullopt;
  if (loads >= kOften) {
    keep_loads(mend.launch, loads);
    mend.line = line_with_most(o.counters, &Counters::global_load_bytes);
    mend.what = "each byte is loaded " + short_number(loads) + " times";
  }
  if (stores >= kOften) {
    keep_stores(mend.launch, stores);
    if (loads < stores) mend.line = line_with_most(o.counters, &Counters::global_store_bytes);
    mend.what += (mend.what.empty() ? "each byte is stored " : ", stored ") + short_number(stores) +
                 " times";
  }
  return mend;
}

}  // namespace membound::vgpu::timing
