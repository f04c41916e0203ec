// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Faults of what warps ask global memory for: sectors that are not needed.
#include <algorithm>

#include "grader/vgpu/timing/launch_changes.hpp"
#include "grader/vgpu/timing/mends.hpp"
#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::Counters;
using counters::LineCounters;

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
std::optional<Mend> without(const Observed& o, Pattern pattern) {
  Mend mend{o.copy(), ""};
  Counters& c = mend.launch.counters.totals;
  const double loaded_before = real(c.global_load_sectors);
  const std::uint64_t read_before = c.l2_read_sectors;
  std::uint64_t worst = 0;
  for (const LineCounters& line : o.counters.lines) {
    const Counters& l = line.counters;
    for (const bool stores : {false, true}) {
      const Accesses a = stores ? stores_of(l) : loads_of(l);
      const std::uint64_t extra = sectors_by(a, pattern);
      if (extra == 0) continue;
      c.theoretical_global_sectors = less(c.theoretical_global_sectors, extra);
      const std::uint64_t lines =
          stores ? l.global_store_lines : less(l.global_tag_requests, l.global_store_lines);
      const std::uint64_t extra_lines = less(lines, std::max(a.requests, (a.sectors - extra) / 4));
      c.global_tag_requests = less(c.global_tag_requests, extra_lines);
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
      mend.line = &line;
      mend.what = std::string(a.name) + ": " + short_number(real(a.sectors) / real(a.requests)) +
                  " sectors a request where " +
                  short_number(real(a.sectors - extra) / real(a.requests)) + " would do";
    }
  }
  if (mend.line == nullptr) return std::nullopt;
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
  return mend;
}

}  // namespace

std::optional<Mend> find_uncoalesced(const Observed& o) { return without(o, Pattern::kApart); }

std::optional<Mend> find_partial_sectors(const Observed& o) {
  return without(o, Pattern::kPartial);
}

std::optional<Mend> find_misaligned(const Observed& o) { return without(o, Pattern::kMisaligned); }

}  // namespace membound::vgpu::timing
