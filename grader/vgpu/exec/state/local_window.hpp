// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generic addresses of local memory. A GPU gives all threads the same, so that a pointer to a
/// local variable means the reader's own memory to another thread. With memcheck on each thread has
/// addresses of its own (Launch::precise), so that whose a pointer is can be told.
/// Place in the chain: exec/lanes/ops_{move,global,print}.cpp, fault_messages -> [local_window].
#pragma once

#include <cstdint>
#include <optional>

#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// A mark, which no address of the host has, then block, thread and offset; blocks of larger grids
/// share their number.
inline constexpr std::uint64_t kLocalMark = 0x5D;
inline constexpr std::uint32_t kMarkShift = 56, kBlockShift = 34;
static_assert(memory::AddressSpace::kLocalWindowBytes == std::uint64_t{1} << 24);

/// Where the window of lane i begins: first + i * stride.
struct LocalWindows {
  std::uint64_t first = 0, stride = 0;
  /// An offset may be below 0 by so much: it is its thread's all the same.
  std::uint64_t slack = 0;
  [[nodiscard, gnu::always_inline]] std::uint64_t of(int lane) const {
    return first + static_cast<std::uint64_t>(lane) * stride;
  }
  [[nodiscard, gnu::always_inline]] bool has(int lane, std::uint64_t address) const {
    return address - of(lane) + slack < memory::AddressSpace::kLocalWindowBytes;
  }
};

[[nodiscard, gnu::always_inline]] inline LocalWindows local_windows(const Warp& w) {
  if (!w.launch->precise) [[likely]]
    return {w.launch->local_window, 0, 0};
  constexpr std::uint64_t kBytes = memory::AddressSpace::kLocalWindowBytes;
  const std::uint64_t block = w.block->linear & ((1u << (kMarkShift - kBlockShift)) - 1);
  return {kLocalMark << kMarkShift | block << kBlockShift | std::uint64_t{w.index} * 32 * kBytes,
          kBytes, kBytes / 2};
}

/// A thread by its numbers in grid and block.
struct ThreadNumber {
  std::uint64_t block = 0, thread = 0;
};

/// Whose local memory, other than the lane's own, a generic address leads to.
[[nodiscard]] std::optional<ThreadNumber> other_owner(const Warp& w, std::uint32_t lane,
                                                      std::uint64_t address);
/// The same of an access to any space.
[[nodiscard]] std::optional<ThreadNumber> other_owner(const WarpAccess& access, std::uint32_t lane);

}  // namespace membound::vgpu::exec
