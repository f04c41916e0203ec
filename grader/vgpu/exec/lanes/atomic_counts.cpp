// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/atomic_counts.hpp"

#include <array>
#include <bit>

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::u32;
using generic::u64;
using program::Atomic;
using program::AtomicAccess;
using program::Instruction;
using ptx::StateSpace;

/// What one part of L2 serves, in sectors: atomics on as many take turns
/// (clock_mechanisms_h200.csv, add random: 64 words take as long a turn as 32, 128 words half as
/// long).
constexpr u32 kSectorsOfPiece = 8;

/// True when one lane does it for all that take part.
bool is_joined(const Instruction& in) {
  const auto joining = in.as<AtomicAccess>().joining;
  return joining == program::Joining::kAlways ||
         (joining == program::Joining::kIfUnused && in.has(program::kResultUnused));
}

/// Lanes that want one word of a bank pass as one; words of one bank take turns.
memory::Wavefronts counted_by_word(const u32* offsets, u32 mask, u32 bytes) {
  memory::Wavefronts cost = memory::shared_wavefronts(offsets, mask, bytes, false);
  cost.ideal = 1;
  return cost;
}

/// True when the hardware has no such operation on shared memory: it loads, computes and swaps.
bool loops_in_shared_memory(const Instruction& in) {
  const Atomic operation = in.as<AtomicAccess>().operation;
  if (operation == Atomic::kExch || operation == Atomic::kCas) return false;
  return ptx::is_float(in.type) || ptx::size_bytes(in.type) != 4;
}

/// A loop on words of global memory; `in` is a 16-bit addition.
void count_word_loop(StepStats& stats, const Instruction& in, const u64* addresses, u32 mask) {
  const auto loop = memory::atomic_word_loop(addresses, mask);
  stats.requests += loop.turns;
  stats.sectors += loop.load.sectors + loop.swaps.sectors;
  stats.ideal_sectors += loop.load.ideal_sectors + loop.swaps.ideal_sectors;
  stats.lines += loop.load.lines + loop.swaps.lines;
  stats.sector_turns += loop.swap_sectors;
  stats.word_loads += 1;
  stats.word_load_sectors += loop.load.sectors;
  stats.word_load_ideal_sectors += loop.load.ideal_sectors;
  stats.word_load_bytes += loop.load.bytes;
  // The profiler takes bytes that go through a generic address for shared memory's, too.
  if (in.space == StateSpace::kNone) stats.shared_bytes += loop.load.bytes + loop.swaps.bytes;
}

}  // namespace

void count_global_atomic(Warp& w, StepStats& stats, const Instruction& in, const u64* addresses,
                         u32 mask, u32 bytes) {
  const auto lanes = static_cast<u32>(std::popcount(mask));
  stats.atomic_lanes += lanes;
  if (is_joined(in)) mask &= 0u - mask;
  const auto cost = memory::coalesce(addresses, mask, bytes);
  if (loops_on_a_word(in)) {
    count_word_loop(stats, in, addresses, mask);
  } else {
    generic::count_global(stats, cost);
    std::array<memory::SectorTurns, 32> turns;
    const u32 count = memory::atomic_turns(addresses, mask, turns);
    for (u32 i = 0; i < count; ++i) {
      stats.sector_turns += turns[i].turns;
      w.worker->busiest_sectors.add(turns[i].sector, turns[i].turns);
      w.worker->busiest_pieces.add(turns[i].sector / kSectorsOfPiece, turns[i].turns);
    }
  }
  stats.atomic_same_address += static_cast<u32>(std::popcount(mask)) - cost.bytes / bytes;
  for (u32 rest = mask; rest != 0; rest &= rest - 1)
    w.worker->hottest.add(addresses[std::countr_zero(rest)], 1);
}

void count_shared_atomic(StepStats& stats, const Instruction& in, const u32* offsets, u32 mask,
                         u32 bytes) {
  if (is_joined(in)) mask &= 0u - mask;
  if (in.as<AtomicAccess>().joining == program::Joining::kByWordIfUnused &&
      in.has(program::kResultUnused))
    return generic::count_shared(stats, counted_by_word(offsets, mask, bytes));
  if (!loops_in_shared_memory(in)) {
    generic::count_shared(
        stats, memory::shared_atomic_wavefronts(offsets, mask, bytes,
                                                in.as<AtomicAccess>().operation == Atomic::kCas));
    return;
  }
  const auto loop = memory::shared_atomic_loop(offsets, mask, bytes);
  stats.shared_requests += loop.rounds;
  stats.wavefronts += loop.swaps.taken;
  stats.ideal_wavefronts += loop.swaps.ideal;
  stats.shared_bytes += loop.loads.bytes + loop.swaps.bytes;
  stats.loop_loads += loop.rounds;
  stats.loop_load_wavefronts += loop.loads.taken;
  stats.loop_load_ideal_wavefronts += loop.loads.ideal;
}

}  // namespace membound::vgpu::exec
