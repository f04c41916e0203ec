// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/throughput.hpp"

#include <algorithm>
#include <cmath>

namespace membound::vgpu::timing {
namespace {

using counters::Counters;

constexpr double kFetchBytes = 64;  // what DRAM brings or takes at once: two sectors

/// Nanoseconds for `work` done by all SMs at `per_clock` each, were it spread evenly.
double over_all_sms(const Workload& s, double work, double per_clock) {
  return ratio(work, s.machine.sm_count * s.machine.clock_ghz * per_clock);
}

double pipe_ns(const Workload& s, double warp_instructions, double lanes) {
  return over_all_sms(s, warp_instructions, lanes / 32);
}

/// Clocks that L1 is busy for global and local memory: a wavefront a request or 128 bytes each in
/// its data stage, lines in its tag stage; the slower stage sets the pace. Where its banks were
/// measured, loads have passes through both.
double global_clocks(const Machine& m, const Counters& c) {
  const double requests = real(c.global_load_requests + c.global_store_requests +
                               c.atomic_requests + c.reduction_requests);
  const double local = real(c.local_load_sectors + c.local_store_sectors) / 4;
  const bool in_passes = m.texture_passes_per_clock > 0;
  const double textures = real(c.surface_sectors + (in_passes ? 0 : c.texture_sectors)) / 4;
  const double fetch_clocks = in_passes ? real(c.texture_passes) / m.texture_passes_per_clock : 0;
  if (m.l1_passes_per_clock > 0) {
    const double stored = real(c.theoretical_global_sectors -
                               std::min(c.theoretical_global_sectors, c.global_load_sectors));
    const double data = std::max(requests, real(c.global_load_requests) + stored / 4);
    return std::max((data + local + textures) / m.l1_wavefronts_per_clock,
                    real(c.l1_passes) / m.l1_passes_per_clock + fetch_clocks);
  }
  const double data = std::max(requests, real(c.theoretical_global_sectors) / 4);
  return std::max((data + local + textures) / m.l1_wavefronts_per_clock,
                  real(c.global_tag_requests) / m.l1_lines_per_clock);
}

/// Lines that loads ask L2 for.
double load_lines(const Counters& c) {
  const double lines =
      real(c.global_tag_requests - std::min(c.global_tag_requests, c.global_store_lines));
  return lines * (1 - ratio(real(c.l1_load_hit_sectors), real(c.global_load_sectors)));
}

/// L1 combines writes: measured on an H100 and an H200, assumed since Volta; before, stores
/// passed it by.
std::uint64_t write_combined(const Machine& m, std::uint64_t sectors) {
  return m.compute_major >= 7 ? sectors : 0;
}

/// Store sectors that reach L2 unfilled: as counted, else from bytes and sectors: half-filled and
/// less counts fully; a few cut-off ends among full sectors (a shifted row: 3 full, 2 cut) count as
/// what they are.
double partial_sectors(const Machine& m, const Counters& c) {
  const double local = real(c.partial_local_store_sectors);  // L1 passes them on as well
  if (c.partial_store_sectors > 0)
    return local + real(c.partial_store_sectors) -
           real(std::min(c.partial_store_sectors, write_combined(m, c.filled_store_sectors)));
  const double sectors = real(c.global_store_sectors);
  const double filled = ratio(real(c.global_store_bytes), sectors * kSectorBytes);
  return local + sectors * std::clamp((1 - filled) * 2, 0.0, 1.0);
}

/// Lines that stores touch on their way to L2, those of local memory among them. What L1 combines
/// are whole sectors of whole lines.
double stored_lines(const Machine& m, const Counters& c) {
  const std::uint64_t merged = write_combined(m, c.merged_store_sectors) / 4;
  return real(c.global_store_lines - std::min(c.global_store_lines, merged)) +
         std::max(real(c.local_store_requests), real(c.local_store_sectors) / 4);
}

/// What `runs` rows of so many bytes together cost beside their bytes, in rows of one line: wider
/// ones cost more, two to four times as wide ones 1.2 to 2.2 times as much (tiles.cu).
double line_rows(std::uint64_t runs, std::uint64_t bytes) {
  constexpr double kWidest = 6;  // as counted
  const double lines = std::clamp(ratio(real(bytes), real(runs) * 128), 1.0, kWidest);
  return real(runs) * std::sqrt(lines);
}

/// Clocks of an SM's texture units: four neighbouring lanes at a time each, as often as L1 needs
/// for what they want where its banks were measured.
double texture_clocks(const Workload& s) {
  const Machine& m = s.machine;
  if (m.texture_passes_per_clock > 0)
    return real(s.totals.texture_passes) / m.texture_passes_per_clock;
  return real(s.totals.texture_requests) / m.texture_quads_per_clock;
}

double shared_atomic_ns(const Workload& s) {
  const Counters& c = s.totals;
  const double passes = real(c.shared_atomic_wavefronts);
  const double contended = passes - std::min(passes, real(c.shared_atomic_requests));
  // Integers are added where they lie; the rest loads, computes and swaps until nobody was faster.
  const double each = c.shared_atomic_loops > 0 ? s.machine.shared_atomic_lane_clocks
                                                : s.machine.shared_conflict_clocks;
  return over_all_sms(s, contended * each + (passes - contended), 1);
}

double issue_slots(const Workload& s) {
  double quarters = 0;
  for (const counters::BlockRun& run : s.work.runs)
    quarters += real(run.blocks * s.work.kinds[run.kind].issue_slots);
  return quarters / kQuarters;
}

/// Clocks of an SM that a pipe is busy.
double pipe_clocks(const Workload& s, program::Pipe pipe) {
  double slots = 0;
  for (std::size_t i = 0; i < s.work.instructions.size(); ++i)
    if (s.machine.costs.of[i].pipe == pipe)
      slots += real(s.work.instructions[i]) * s.machine.costs.of[i].slots;
  if (pipe == program::Pipe::kCollective) {  // match.any goes through the values one by one
    const auto match = static_cast<std::size_t>(program::Cost::kMatch);
    const std::uint64_t matches = s.work.instructions.empty() ? 0 : s.work.instructions[match];
    slots += real(s.totals.match_values - std::min(s.totals.match_values, matches)) *
             s.machine.costs.of[match].slots;
  }
  return slots / 4;
}

/// A further word that lanes want of constant memory: as likely at hand as the share of the
/// program's constants that its cache holds.
double constant_clocks(const Workload& s) {
  const Machine& m = s.machine;
  const double near =
      std::min(1.0, ratio(m.constant_cache_bytes, std::max(1.0, real(s.constant_bytes))));
  return near * m.constant_word_clocks + (1 - near) * m.constant_far_word_clocks;
}

double executed(const Workload& s, program::Cost cost) {
  return real(s.work.instructions[static_cast<std::size_t>(cost)]);
}

/// Warp instructions that only the integer pipe executes; sums and products go to the float pipes
/// as well.
double integer_pipe(const Workload& s) {
  if (s.work.instructions.empty()) return real(s.totals.integer_instructions);
  return executed(s, program::Cost::kAlu) + 2 * executed(s, program::Cost::kAlu64);
}

/// What the float pipes execute, without products that are part of a sum.
double float_pipe(const Workload& s) {
  if (s.work.instructions.empty())
    return real(s.totals.float32_instructions + s.totals.half_instructions);
  return executed(s, program::Cost::kFma);
}

}  // namespace

double shared_clocks(const Machine& machine, const Counters& c) {
  const double taken =
      real(c.ptx_shared_wavefronts - std::min(c.ptx_shared_wavefronts, c.vector_shared_wavefronts));
  const double ideal = std::min(taken, real(c.ptx_ideal_shared_wavefronts));
  const double extra = taken - ideal;
  return ideal / machine.l1_wavefronts_per_clock + extra * machine.shared_conflict_clocks;
}

double l2_read_sectors(const Counters& c) {
  return real(c.l2_read_sectors ? c.l2_read_sectors + c.l1_load_joined_sectors
                                : c.global_load_sectors + c.local_load_sectors + c.texture_sectors);
}

double l2_sectors(const Machine& m, const Counters& c) {
  const double writes = real(c.l2_write_sectors ? c.l2_write_sectors
                                                : c.global_store_sectors + c.local_store_sectors);
  const double merged = std::min(writes, real(write_combined(m, c.merged_store_sectors)));
  return l2_read_sectors(c) + writes - merged + real(c.atomic_sectors + c.reduction_sectors);
}

double dram_ns(const Workload& s) {
  const Machine& m = s.machine;
  const Counters& c = s.totals;
  if (c.dram_read_bytes + c.dram_write_bytes == 0)
    return ratio(l2_sectors(m, c) * kSectorBytes, m.dram_reached_gbs);
  // The last bytes written stay in L2.
  const double written = std::max(0.0, real(c.dram_write_bytes) - m.dirty_l2_bytes);
  const double fetched = real(c.dram_fetched_pieces) * kFetchBytes;
  // Fetches that come alone open a row of DRAM each; those that go back are written in turn with
  // being fetched.
  const double in_a_row = (fetched > 0 ? fetched : real(c.dram_read_bytes)) + written;
  const double alone = real(c.dram_lone_pieces) * m.lone_fetch_bytes +
                       real(c.dram_filled_pieces) * m.filled_fetch_bytes +
                       real(c.dram_half_pieces) * m.half_fetch_bytes;
  // So do rows that neither a block's nor its neighbours' rows go on with.
  const double runs_ns =
      ratio(line_rows(c.dram_read_runs, c.dram_read_bytes), m.dram_read_gruns) +
      ratio(line_rows(c.dram_written_runs, c.dram_write_bytes), m.dram_written_gruns) *
          ratio(written, real(c.dram_write_bytes));
  return ratio(in_a_row + alone, m.dram_reached_gbs) + runs_ns;
}

double sm_load_ns(const Workload& s) {
  return ratio(l2_read_sectors(s.totals) * kSectorBytes,
               s.machine.sm_load_gbs * s.machine.sm_count);
}

double atomic_ns(const Workload& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double requests = real(c.atomic_requests + c.reduction_requests);
  if (requests == 0) return 0;
  const double turns = real(c.atomic_sectors + c.reduction_sectors);
  const double floats = ratio(real(c.float_atomic_lanes), real(c.atomic_lanes));
  const double turn_ns = floats * m.atomic_same_address_ns + (1 - floats) * m.integer_atomic_ns;
  const double in_turn =
      real(std::max(c.hottest_atomic_address_count, c.busiest_atomic_sector_turns));
  // Where four chunks of 512 bytes are wanted or more, two of them may lie in the same part of L2:
  // whether they do depends on where the array lies, and both was measured (histogram in 256 words;
  // add random, 256).
  const double chunk = real(c.busiest_atomic_piece_sectors);
  const double part = std::max(chunk, std::min(2 * chunk, turns * 3 / 8));
  return std::max({in_turn * turn_ns, part * m.atomic_piece_ns, turns / m.atomic_gsectors});
}

std::vector<Bound> sm_terms(const Workload& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double wavefronts = shared_clocks(m, c) + global_clocks(m, c);
  const double constants =
      (real(c.constant_load_words) - real(c.constant_load_requests)) * constant_clocks(s);
  return {
      {BoundKind::kIssue, over_all_sms(s, issue_slots(s), m.schedulers)},
      {BoundKind::kFloat32, pipe_ns(s, float_pipe(s), m.fp32_lanes)},
      {BoundKind::kInteger, pipe_ns(s, integer_pipe(s), m.integer_lanes)},
      {BoundKind::kFloat64, pipe_ns(s, real(c.float64_instructions), m.fp64_lanes)},
      {BoundKind::kSpecial,
       over_all_sms(s, pipe_clocks(s, program::Pipe::kSpecial), m.special_lanes / 16)},
      {BoundKind::kCollectives, over_all_sms(s, pipe_clocks(s, program::Pipe::kCollective), 1)},
      {BoundKind::kBarriers, over_all_sms(s, pipe_clocks(s, program::Pipe::kBarrier), 1)},
      {BoundKind::kL1, over_all_sms(s, wavefronts, 1)},
      {BoundKind::kConstants, over_all_sms(s, constants, 1)},
      {BoundKind::kTextures, over_all_sms(s, texture_clocks(s), 1)},
      {BoundKind::kSharedAtomics, shared_atomic_ns(s)},
  };
}

std::vector<Bound> shared_terms(const Workload& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double stored = stored_lines(m, c);
  const double unfinished = std::min(stored, real(c.unfinished_store_lines));
  return {
      {BoundKind::kL2, std::max(ratio(l2_sectors(m, c) * kSectorBytes, m.l2_gbs),
                                ratio(load_lines(c), m.load_glines))},
      {BoundKind::kPartialStores, std::max(ratio(partial_sectors(m, c), m.partial_store_gsectors),
                                           ratio(unfinished, m.store_glines) +
                                               ratio(stored - unfinished, m.filled_store_glines))},
      {BoundKind::kDram, dram_ns(s)},
  };
}

}  // namespace membound::vgpu::timing
