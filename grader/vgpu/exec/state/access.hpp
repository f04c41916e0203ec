// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the addresses of 32 lanes to host bytes, counted on the way: what every load, store and
/// atomic begins with. Rare and slow cases are in access.cpp.
///
/// Generic addresses of local memory: a GPU gives all threads the same, so that a pointer to a
/// local variable means the reader's own memory to another thread. With memcheck on each thread has
/// addresses of its own (Launch::precise), so that whose a pointer is can be told.
#pragma once

#include <cstdint>
#include <optional>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/memory/coalescer.hpp"
#include "grader/vgpu/memory/shared_banks.hpp"

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

/// Host bytes of every lane in `mask`; lanes that may not go on leave the mask. When the launch
/// faulted, returns false. Refreshes the step's span.
bool translate_slowly(Warp& w, const Step* s, const std::uint64_t* addresses, std::uint32_t& mask,
                      std::uint32_t bytes, AccessKind kind, std::byte** host);
/// The same for one contiguous or uniform range; null: try lane by lane.
std::byte* translate_range(Warp& w, const Step* s, std::uint64_t address, std::uint64_t bytes);
/// Raises misaligned or illegal address for the first lane of shared or local memory that offends;
/// clears such lanes when a checker takes the report. False when the launch faulted.
bool check_offsets(Warp& w, const Step* s, const std::uint64_t* offsets, std::uint32_t& mask,
                   std::uint32_t bytes, std::uint64_t limit, ptx::StateSpace space,
                   AccessKind kind);
/// Tells the observer.
void observe(Warp& w, const Step* s, ptx::StateSpace space, AccessKind kind, std::uint32_t mask,
             std::uint32_t bytes, const std::uint64_t* addresses,
             LanePattern shape = LanePattern::kUnknown);
/// Tells the observer where `masks`, one a lane, do not fit the lanes that came (`present`): a lane
/// that does not name itself, or one that is named, lives and is not here. Lanes that have ended
/// are not missed (CUDA C++ Programming Guide, "Warp Shuffle Functions": each non-exited thread
/// named).
void tell_of_members(Warp& w, const Step* s, const std::uint32_t* masks, std::uint32_t present);
/// Tells the observer who of the running lanes met: those that name each other in `masks`.
void observe_lane_sync(Warp& w, const std::uint32_t* masks);
/// Lane-local memory, grown to hold [0, bytes); false: beyond the limit, and a fault.
bool grow_local(Warp& w, const Step* s, std::uint64_t bytes);
/// The door to memory of ours behind an offset of the program's: a promise that [offset, offset +
/// bytes) lies inside, kept in 64 bits. Who comes here has asked check_offsets before.
[[nodiscard]] inline std::byte* shared_place(const Warp& w, std::uint64_t offset,
                                             std::uint64_t bytes) {
  MEMBOUND_CHECK(bytes <= w.shared_bytes && offset <= w.shared_bytes - bytes);
  return w.shared + offset;
}
/// The same for the local memory of a lane.
[[nodiscard]] inline std::byte* local_place(const Warp& w, int lane, std::uint64_t offset,
                                            std::uint64_t bytes) {
  MEMBOUND_CHECK(bytes <= w.local_stride && offset <= w.local_stride - bytes);
  return const_cast<std::byte*>(w.local.data()) +
         static_cast<std::uint64_t>(lane) * w.local_stride + offset;
}
/// Words of 4 bytes that a local access of `bytes` a lane has: each is a request of its own.
[[nodiscard]] constexpr std::uint32_t local_words(std::uint32_t bytes) {
  return bytes <= 4 ? 1 : bytes / 4;
}
/// Sectors of one local access: lane l's word w lies at 128 w + 4 l.
struct LocalSectors {
  std::uint32_t all = 0;
  std::uint32_t partial = 0;  ///< those of which it does not touch all 32 bytes
};
LocalSectors local_sectors(const std::uint64_t* offsets, std::uint32_t mask, std::uint32_t bytes);
inline void count_local(StepStats& stats, const std::uint64_t* offsets, std::uint32_t mask,
                        std::uint32_t bytes) {
  const LocalSectors sectors = local_sectors(offsets, mask, bytes);
  stats.local_requests += local_words(bytes);
  stats.local_sectors += sectors.all;
  stats.local_partial_sectors += sectors.partial;
}

namespace MEMBOUND_ISA {

/// Addresses of all lanes: register plus immediate, and the frame's base for locals.
template <typename Word>
[[gnu::always_inline]] inline void lane_addresses(const Warp& w, const Step* s, u64* out) {
  const auto* a = at<const Word>(w, s->a);
  const u64 offset = static_cast<u64>(s->address.offset);
  MEMBOUND_LANES out[i] = static_cast<u64>(a[i]) + offset;
}

/// lane l at first + l * stride?
[[gnu::always_inline]] inline bool has_stride(const u64* a, u64 stride) {
  u64 difference = 0;
  MEMBOUND_LANES difference |= (a[i] - a[0]) ^ (static_cast<u64>(i) * stride);
  return difference == 0;
}

/// Sectors, lines and ideal for a full warp in any pattern.
[[gnu::always_inline]] inline memory::Coalesced coalesce_full(const u64* a, u32 bytes) {
  u32 sectors = 1, lines = 1, distinct = 1, descents = 0;
  MEMBOUND_INDEPENDENT for (int i = 0; i < 31; ++i) {
    sectors += (a[i + 1] >> 5) != (a[i] >> 5);
    lines += (a[i + 1] >> 7) != (a[i] >> 7);
    distinct += a[i + 1] != a[i];
    descents += a[i + 1] < a[i];
  }
  if (descents != 0) return memory::coalesce(a, 0xFFFFFFFFu, bytes);
  return {sectors, lines, memory::ideal_sectors(sectors, 32, bytes), distinct * bytes};
}

[[gnu::always_inline]] inline void count_global(StepStats& stats, const memory::Coalesced& cost) {
  stats.requests += 1;
  stats.sectors += cost.sectors;
  stats.lines += cost.lines;
  stats.ideal_sectors += cost.ideal_sectors;
  stats.bytes += cost.bytes;
}

/// What a load that touches so many lines saves beside looking them up one by one.
[[gnu::always_inline]] inline void count_passes(StepStats& stats, u32 lines, u32 passes) {
  if (lines != passes) stats.lines_at_once += u64{lines} - passes;
}

[[gnu::always_inline]] inline void count_shared(StepStats& stats, const memory::Wavefronts& cost) {
  stats.shared_requests += 1;
  stats.wavefronts += cost.taken;
  stats.ideal_wavefronts += cost.ideal;
  stats.shared_bytes += cost.bytes;
}

/// Wavefronts of a full warp of words of up to 4 bytes; the common patterns without a call.
[[gnu::always_inline]] inline memory::Wavefronts word_wavefronts(const u32* offsets, u32 bytes,
                                                                 bool is_load) {
  u32 banks = 0;
  MEMBOUND_LANES banks |= 1u << ((offsets[i] >> 2) & 31);
  if (banks == 0xFFFFFFFFu) return {1, 1, 32 * bytes};  // 32 lanes in 32 banks
  return memory::shared_wavefronts(offsets, 0xFFFFFFFFu, bytes, is_load);
}

}  // namespace MEMBOUND_ISA

}  // namespace membound::vgpu::exec
