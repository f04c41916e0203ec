// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What-if rules about what a launch asks of memory.
#include <algorithm>

#include "grader/vgpu/advice/what_if.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::advice {
namespace {

using counters::BlockWork;
using counters::Counters;
using counters::LineCounters;

// --- Sectors that warps ask global memory for and do not need ------------------------------------

/// Why a request touches more sectors than its bytes would fill.
enum class Pattern {
  kMisaligned,  ///< runs of neighbouring lanes begin within a sector
  kPartial,     ///< the rest of the sectors is used by nobody
  kApart        ///< the rest is used by others, at another time
};

/// One direction of one line.
struct Accesses {
  const char* name;
  std::uint64_t requests, sectors, ideal, runs, bytes, used;
};

Accesses loads_of(const Counters& c) {
  return {"load",
          c.global_load_requests,
          c.global_load_sectors,
          c.global_load_ideal_sectors,
          c.global_load_run_sectors,
          c.global_load_bytes + c.async_copy_bytes,
          c.global_load_used_bytes};
}

Accesses stores_of(const Counters& c) {
  return {"store",
          c.global_store_requests,
          c.global_store_sectors,
          c.global_store_ideal_sectors,
          c.global_store_run_sectors,
          c.global_store_bytes,
          c.global_store_used_bytes};
}

/// Is the rest of the sectors used by other accesses?
bool is_used_by_others(const Accesses& a) {
  constexpr double kNearlyAll = 0.8;
  if (a.used > 0) return real(a.used) > kNearlyAll * kSectorBytes * real(a.sectors);
  // Nobody looked, as only some blocks ran: a word or two of each sector is nobody's struct.
  constexpr double kOneWord = 4, kTwoWords = 8, kNearlyAllLanes = 24;
  const double filled = real(a.bytes) / real(a.sectors);  // bytes of 32
  const double each = real(a.sectors) / real(a.requests);
  return filled <= kOneWord || (filled <= kTwoWords && each >= kNearlyAllLanes);
}

/// Sectors that would not be touched without the pattern.
std::uint64_t sectors_by(const Accesses& a, Pattern pattern) {
  if (a.requests == 0 || a.sectors <= a.ideal) return 0;
  // Without the cache model nobody has looked at runs: then nothing counts as misaligned.
  const std::uint64_t aligned = a.runs == 0 ? a.sectors : std::clamp(a.runs, a.ideal, a.sectors);
  if (pattern == Pattern::kMisaligned) return a.sectors - aligned;
  return is_used_by_others(a) == (pattern == Pattern::kApart) ? aligned - a.ideal : 0;
}

/// Takes away the sectors that lines touch because of a pattern.
std::optional<WhatIf> without(const Observed& o, Pattern pattern) {
  WhatIf what_if{o.copy(), ""};
  Counters& c = what_if.launch.counters.totals;
  const double loaded_before = real(c.global_load_sectors);
  const std::uint64_t read_before = c.l2_read_sectors;
  std::uint64_t worst = 0;
  for (const LineCounters& line : o.counters.lines) {
    const Counters& l = line.counters;
    for (const bool stores : {false, true}) {
      const Accesses a = stores ? stores_of(l) : loads_of(l);
      const std::uint64_t extra = sectors_by(a, pattern);
      // Less than one sector in a hundred is no advice: it would read "29.7 instead of 29.7".
      if (100 * extra < a.sectors || extra == 0) continue;
      c.theoretical_global_sectors = less(c.theoretical_global_sectors, extra);
      const std::uint64_t lines =
          stores ? l.global_store_lines : less(l.global_tag_requests, l.global_store_lines);
      const std::uint64_t extra_lines = less(lines, std::max(a.requests, (a.sectors - extra) / 4));
      c.global_tag_requests = less(c.global_tag_requests, extra_lines);
      const std::uint64_t passes = stores ? lines : less(l.l1_passes, l.global_store_lines);
      c.l1_passes = less(c.l1_passes, less(passes, std::max(a.requests, (a.sectors - extra) / 4)));
      if (stores) {
        c.global_store_sectors = less(c.global_store_sectors, extra);
        c.global_store_lines = less(c.global_store_lines, extra_lines);
        c.l2_write_sectors = less(c.l2_write_sectors, extra);
        c.partial_store_sectors = less(c.partial_store_sectors, l.partial_store_sectors);
        c.filled_store_sectors = less(c.filled_store_sectors, l.partial_store_sectors);
        c.merged_store_sectors = less(c.merged_store_sectors, extra);
        c.dram_filled_pieces = c.dram_half_pieces = c.dram_written_runs = 0;
        fetch_for_loads_only(c);
      } else {
        c.dram_read_runs = 0;
        c.block_load_rows = c.block_load_turns;
        c.global_load_sectors = less(c.global_load_sectors, extra);
      }
      // Of two that waste alike the store: no cache takes up what it leaves.
      if (extra < worst || (extra == worst && !stores)) continue;
      worst = extra;
      what_if.line = &line;
      what_if.what = std::string(a.name) + ": " + short_number(real(a.sectors) / real(a.requests)) +
                     " sectors a request instead of " +
                     short_number(real(a.sectors - extra) / real(a.requests));
    }
  }
  if (what_if.line == nullptr) return std::nullopt;
  // What was fetched for nothing is fetched no more; what was found in L1 was found for others.
  const double left = loaded_before > 0 ? real(c.global_load_sectors) / loaded_before : 1;
  c.l2_read_sectors = std::min(c.l2_read_sectors, c.global_load_sectors + c.local_load_sectors);
  c.l1_load_joined_sectors = share_of(c.l1_load_joined_sectors, left);
  c.l1_load_hit_sectors =
      std::max(c.l1_load_joined_sectors, less(c.global_load_sectors, c.l2_read_sectors));
  const auto bytes = [](std::uint64_t sectors) { return share_of(sectors, kSectorBytes); };
  c.dram_read_bytes = std::min(c.dram_read_bytes, bytes(c.global_load_sectors));
  if (c.global_store_sectors > 0)
    c.dram_write_bytes = std::min(c.dram_write_bytes, bytes(c.global_store_sectors));
  if (left < 1) fetch_once(c, read_before);
  return what_if;
}

}  // namespace

std::optional<WhatIf> find_uncoalesced(const Observed& o) { return without(o, Pattern::kApart); }

std::optional<WhatIf> find_partial_sectors(const Observed& o) {
  return without(o, Pattern::kPartial);
}

std::optional<WhatIf> find_misaligned(const Observed& o) {
  return without(o, Pattern::kMisaligned);
}

// --- Shared and local memory, atomics, and bytes that are moved again ----------------------------

namespace {

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
  c.l1_passes = less(c.l1_passes, share_of(less(c.l1_passes, c.global_store_lines), 1 - 1 / each));
  const std::uint64_t read_before = c.l2_read_sectors;
  c.l2_read_sectors = std::min(c.l2_read_sectors, share_of(c.dram_read_bytes, 1 / kSectorBytes));
  fetch_once(c, read_before);
  c.l1_load_hit_sectors = c.l1_load_joined_sectors = 0;
  c.ptx_shared_wavefronts += saved;
  c.ptx_ideal_shared_wavefronts += saved;
  const double blocks = std::max(1.0, real(launch.shape.grid.count()));
  for (BlockWork& block : launch.counters.work.kinds) {
    block.load_batches = std::min(
        block.load_batches, std::max<std::uint64_t>(1, share_of(block.load_batches, 1 / each)));
    block.all_load_batches = share_of(block.all_load_batches, 1 / each);
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
    if (part == &Counters::global_store_lines) {
      c.global_tag_requests = less(c.global_tag_requests, saved);
      c.l1_passes = less(c.l1_passes, saved);
    }
  }
}

}  // namespace

std::optional<WhatIf> find_bank_conflicts(const Observed& o) {
  WhatIf what_if{o.copy(), ""};
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
    what_if.line = &line;
    const double requests =
        real(l.ptx_shared_load_requests + l.ptx_shared_store_requests + l.async_copy_requests);
    what_if.what = short_number(real(l.ptx_shared_wavefronts) / requests) +
                   " wavefronts a request instead of " +
                   short_number(real(l.ptx_ideal_shared_wavefronts) / requests);
  }
  if (all == 0) return std::nullopt;
  Counters& c = what_if.launch.counters.totals;
  c.ptx_shared_wavefronts = less(c.ptx_shared_wavefronts, all);
  c.vector_shared_wavefronts = less(c.vector_shared_wavefronts, of_vectors);
  return what_if;
}

std::optional<WhatIf> find_local_memory(const Observed& o) {
  WhatIf what_if{o.copy(), ""};
  Counters& c = what_if.launch.counters.totals;
  const std::uint64_t requests = c.local_load_requests + c.local_store_requests;
  if (requests == 0) return std::nullopt;
  what_if.line =
      line_with_most(o.counters, c.local_load_requests > 0 ? &Counters::local_load_requests
                                                           : &Counters::local_store_requests);
  what_if.what = short_number(real(requests) / std::max(1.0, real(c.warps))) +
                 " accesses a warp to arrays in local memory";
  // Each goes with instructions that compute its address.
  constexpr double kOfAddress = 2;
  const double instructions = std::max(1.0, real(c.warp_instructions));
  const double kept = std::max(0.2, 1 - (1 + kOfAddress) * real(requests) / instructions);
  const auto addresses = static_cast<std::uint64_t>(kOfAddress * real(requests));
  c.integer_instructions = less(c.integer_instructions, addresses);
  for (std::uint64_t& count : what_if.launch.counters.work.instructions)
    count = share_of(count, kept);
  // A warp waits for a word of its array as for any other that L1 has.
  const double other_batches = 1 - local_batches_share(c);
  for (BlockWork& block : what_if.launch.counters.work.kinds) {
    block.issue_slots = share_of(block.issue_slots, kept);
    block.chain_clocks = share_of(block.chain_clocks, kept);
    block.load_batches = share_of(block.load_batches, other_batches);
    block.all_load_batches = share_of(block.all_load_batches, other_batches);
  }
  c.local_load_rounds = 0;
  c.l2_write_sectors = less(c.l2_write_sectors, c.local_store_sectors);
  c.local_load_requests = c.local_load_sectors = 0;
  c.local_store_requests = c.local_store_sectors = c.partial_local_store_sectors = 0;
  return what_if;
}

std::optional<WhatIf> find_same_address_atomics(const Observed& o) {
  WhatIf what_if{o.copy(), ""};
  Counters& c = what_if.launch.counters.totals;
  const std::uint64_t left = o.shape.grid.count();
  if (c.hottest_atomic_address_count <= left) return std::nullopt;
  what_if.line = line_with_most(o.counters, &Counters::atomic_lanes);
  what_if.what =
      short_number(real(c.hottest_atomic_address_count)) + " atomics take turns at one address";
  const std::uint64_t sectors = c.atomic_sectors + c.reduction_sectors;
  c.l2_write_sectors = less(c.l2_write_sectors, sectors);
  c.theoretical_global_sectors = less(c.theoretical_global_sectors, sectors);
  const bool floats = c.float_atomic_lanes > 0;
  c.atomic_requests = c.atomic_sectors = 0;
  c.reduction_requests = c.reduction_sectors = c.hottest_atomic_address_count = left;
  c.busiest_atomic_piece_sectors = c.busiest_atomic_sector_turns = c.atomic_lanes = left;
  c.float_atomic_lanes = floats ? left : 0;
  return what_if;
}

std::optional<WhatIf> find_shared_atomics(const Observed& o) {
  WhatIf what_if{o.copy(), ""};
  Counters& c = what_if.launch.counters.totals;
  if (c.shared_atomic_wavefronts <= c.shared_atomic_requests) return std::nullopt;
  what_if.line = line_with_most(o.counters, &Counters::shared_atomic_wavefronts);
  what_if.what = short_number(real(c.shared_atomic_wavefronts) / real(c.shared_atomic_requests)) +
                 " turns an atomic instead of 1";
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
  return what_if;
}

std::optional<WhatIf> find_redundant_traffic(const Observed& o) {
  constexpr double kOften = 1.9;
  WhatIf what_if{o.copy(), ""};
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
    keep_loads(what_if.launch, loads);
    what_if.line = line_with_most(o.counters, &Counters::global_load_bytes);
    what_if.what = "each byte is loaded " + short_number(loads) + " times";
  }
  if (stores >= kOften) {
    keep_stores(what_if.launch, stores);
    if (loads < stores) what_if.line = line_with_most(o.counters, &Counters::global_store_bytes);
    what_if.what += (what_if.what.empty() ? "each byte is stored " : ", stored ") +
                    short_number(stores) + " times";
  }
  return what_if;
}

}  // namespace membound::vgpu::advice
