// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/occupancy.hpp"

#include <algorithm>

namespace membound::vgpu::timing {
namespace {

constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint32_t kRegisterUnit = 256;  // registers of one warp come in multiples of this
constexpr std::uint32_t kParts = 4;           // each with a quarter of the SM's registers
constexpr std::uint32_t kUnlimited = 0xffffffff;

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint32_t blocks_by_registers(const Machine& machine, std::uint32_t warps,
                                  std::uint32_t registers_per_thread) {
  if (registers_per_thread == 0) return kUnlimited;
  const std::uint32_t per_warp = round_up(registers_per_thread * kWarpSize, kRegisterUnit);
  if (per_warp * round_up(warps, kParts) > machine.registers_per_block) return 0;
  const std::uint32_t warps_per_part = machine.registers_per_sm / kParts / per_warp;
  return warps_per_part * kParts / warps;
}

/// What a block takes of its SM's shared memory.
std::uint32_t taken_bytes(const Machine& machine, std::uint32_t shared_bytes) {
  return round_up(shared_bytes + machine.shared_reserved_bytes, machine.shared_unit_bytes);
}

std::uint32_t blocks_by_shared(const Machine& machine, std::uint32_t shared_bytes) {
  if (shared_bytes > machine.shared_per_block_optin_bytes) return 0;
  const std::uint32_t taken = taken_bytes(machine, shared_bytes);
  return taken == 0 ? kUnlimited : machine.shared_per_sm_bytes / taken;
}

/// Since Volta shared memory is a part of L1, in one of these sizes (CUDA programming guide). Which
/// one, an H100 shows (clock_how_many_stay_h100.csv): the first in which all blocks fit that may be
/// there at once, and twice as many where they have fewer than 32 warps, as far as 132 KiB go.
std::uint32_t shared_part_bytes(const Machine& machine, std::uint32_t warps, std::uint32_t wanted) {
  constexpr std::uint32_t kKiB = 1024, kMostAskedTwice = 132 * kKiB, kLargestBlock = 32;
  const std::uint32_t room =
      warps < kLargestBlock ? std::max(wanted, std::min(2 * wanted, kMostAskedTwice)) : wanted;
  for (const std::uint32_t kib : {8u, 16u, 32u, 64u, 100u, 132u, 164u, 196u})
    if (kib * kKiB >= room) return std::min(kib * kKiB, machine.shared_per_sm_bytes);
  return machine.shared_per_sm_bytes;
}

}  // namespace

std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::kThreads:
      return "threads";
    case Limiter::kRegisters:
      return "registers";
    case Limiter::kSharedMemory:
      return "shared memory";
    case Limiter::kBlocks:
      return "blocks";
    case Limiter::kNothing:
      return "nothing fits";
  }
  return "nothing fits";
}

Occupancy occupancy_of(const Machine& machine, const BlockNeeds& needs) {
  Occupancy result;
  if (needs.threads == 0) return result;
  const std::uint32_t warps = round_up(needs.threads, kWarpSize) / kWarpSize;
  result.by_threads = max_warps_per_sm(machine) / warps;
  result.by_registers = blocks_by_registers(machine, warps, needs.registers_per_thread);
  result.by_shared = blocks_by_shared(machine, needs.shared_bytes);
  result.by_blocks = machine.max_blocks_per_sm;
  result.blocks =
      std::min({result.by_threads, result.by_registers, result.by_shared, result.by_blocks});
  result.share = static_cast<double>(result.blocks) * warps / max_warps_per_sm(machine);
  if (result.blocks == 0) return result;
  const std::uint32_t taken = taken_bytes(machine, needs.shared_bytes);
  result.held_by_shared = machine.compute_major < 7 || needs.shared_bytes == 0
                              ? result.by_shared
                              : shared_part_bytes(machine, warps, taken * result.blocks) / taken;
  // Several may bind at once; the one a student can change most easily is named last.
  if (result.blocks == result.by_blocks) result.limiter = Limiter::kBlocks;
  if (result.blocks == result.by_threads) result.limiter = Limiter::kThreads;
  if (result.blocks == result.by_shared) result.limiter = Limiter::kSharedMemory;
  if (result.blocks == result.by_registers) result.limiter = Limiter::kRegisters;
  // Nothing is missing when every thread the SM could hold is there.
  if (result.share >= 1) result.limiter = Limiter::kThreads;
  return result;
}

}  // namespace membound::vgpu::timing
