// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of global and constant memory, and through generic addresses.
///
/// Three shapes of a full warp are fast: lanes that are neighbours in memory, all lanes at one
/// address, anything else whose lanes all lie in the span of memory this instruction touched last.
#include <bit>

#include "grader/vgpu/exec/lanes/access_elements.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using ptx::StateSpace;

[[gnu::always_inline]] inline bool in_span(const StepStats& stats, u64 address, u64 bytes) {
  return address - stats.span_begin <= stats.span_bytes - bytes && bytes <= stats.span_bytes;
}

/// Host bytes of [address, address + bytes), by the span this step touched last if it can.
[[gnu::always_inline]] inline std::byte* range(Warp& w, const Step* s, StepStats& stats,
                                               u64 address, u64 bytes) {
  if (in_span(stats, address, bytes)) [[likely]]
    return reinterpret_cast<std::byte*>(address + static_cast<u64>(stats.host_offset));
  return translate_range(w, s, address, bytes);
}

/// Host bytes of 32 lanes far apart in a drawn array, if each touches the piece it touched last.
[[gnu::always_inline]] inline bool in_pieces(const Warp& w, const u64* addresses, u64 bytes,
                                             std::byte** host) {
  if (w.worker->pieces == nullptr) return false;
  const LanePieces::Row& row = w.worker->pieces->row_of(addresses[0]);
  const u64 limit = LanePieces::kBytes - bytes;
  u64 outside = 0;
  MEMBOUND_LANES {
    outside |= addresses[i] - row.begin[i] > limit;
    host[i] = reinterpret_cast<std::byte*>(addresses[i] + row.host_offset[i]);
  }
  return outside == 0;
}

/// Host bytes of scattered lanes.
template <u32 kBytes>
bool translate(Warp& w, const Step* s, StepStats& stats, const u64* addresses, u32& mask,
               AccessKind kind, std::byte** host) {
  const u64 begin = stats.span_begin, limit = stats.span_bytes - kBytes;
  const u64 offset = static_cast<u64>(stats.host_offset);
  u32 outside = stats.span_bytes < kBytes ? 1 : 0;
  u64 misaligned = 0;
  if (mask == 0xFFFFFFFFu) {
    MEMBOUND_LANES {
      outside |= addresses[i] - begin > limit;
      misaligned |= addresses[i];
      host[i] = reinterpret_cast<std::byte*>(addresses[i] + offset);
    }
  } else {
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      outside |= addresses[i] - begin > limit;
      misaligned |= addresses[i];
      host[i] = reinterpret_cast<std::byte*>(addresses[i] + offset);
    }
  }
  if ((misaligned & (kBytes - 1)) == 0) [[likely]] {
    if (outside == 0) return true;
    if (mask == 0xFFFFFFFFu && in_pieces(w, addresses, kBytes, host)) return true;
  }
  return translate_slowly(w, s, addresses, mask, kBytes, kind, host);
}

/// Sectors that a store leaves half written, and those that this one fills of the stores before it.
inline void count_partial(Warp& w, StepStats& stats, const u64* addresses, u32 mask, u32 bytes) {
  const memory::StoredSectors store = memory::stored_sectors(addresses, mask, bytes);
  if (store.partial == 0) return;
  stats.partial_store_sectors += store.partial;
  const memory::StoreBurst::Filled filled = w.burst.add(store);
  stats.filled_store_sectors += filled.sectors;
  stats.merged_store_sectors += filled.merged;
}

template <typename E, AccessKind kKind>
const Step* scattered(Warp& w, const Step* s, const u64* addresses) {
  StepStats& stats = w.stats[s->stats];
  u32 mask = w.mask;
  std::byte* host[32];
  if (!translate<E::kBytes>(w, s, stats, addresses, mask, kKind, host)) return w.stop;
  const bool constant = s->extra->in->has(program::kConstantMemory);
  if (mask != 0) {
    if (!w.launch->counts) {
      // Nobody asks what the access costs.
    } else if (constant) {
      stats.requests += 1;
      stats.constant_load_words += memory::distinct_addresses(addresses, mask);
    } else {
      const auto cost = mask == 0xFFFFFFFFu ? coalesce_full(addresses, E::kBytes)
                                            : memory::coalesce(addresses, mask, E::kBytes);
      count_global(stats, cost);
      if constexpr (kKind == AccessKind::kStore)
        count_partial(w, stats, addresses, mask, E::kBytes);
      else
        w.burst.load();
    }
    if (w.observer != nullptr && !constant)
      observe(w, s, StateSpace::kGlobal, kKind, mask, E::kBytes, addresses);
    if constexpr (kKind == AccessKind::kLoad)
      E::gather(w, s, host, mask);
    else
      E::scatter(w, s, host, mask);
  }
  return s + 1;
}

template <typename E, typename T, AccessKind kKind>
[[gnu::always_inline]] inline const Step* global_access(Warp& w, const Step* s,
                                                        const u64* addresses) {
  if (w.mask == 0xFFFFFFFFu) [[likely]] {
    StepStats& stats = w.stats[s->stats];
    if (has_stride(addresses, E::kBytes) && addresses[0] % E::kBytes == 0) {
      std::byte* host = range(w, s, stats, addresses[0], 32 * E::kBytes);
      if (host != nullptr && !s->extra->in->has(program::kConstantMemory)) [[likely]] {
        count_global(stats, memory::coalesce_contiguous(addresses[0], 32, E::kBytes));
        if (w.observer != nullptr) [[unlikely]]
          observe(w, s, StateSpace::kGlobal, kKind, w.mask, E::kBytes, addresses,
                  LanePattern::kRow);
        if constexpr (kKind == AccessKind::kLoad)
          E::load_row(w, s, reinterpret_cast<const T*>(host));
        else
          E::store_row(w, s, reinterpret_cast<T*>(host));
        if (kKind == AccessKind::kLoad)
          w.burst.load();
        else if (addresses[0] % memory::kSectorBytes != 0 && w.launch->counts)
          count_partial(w, stats, addresses, w.mask, E::kBytes);
        return s + 1;
      }
    }
  }
  return scattered<E, kKind>(w, s, addresses);
}

template <typename T, typename Word, int kVector, AccessKind kKind>
const Step* global(Warp& w, const Step* s) {
  alignas(32) u64 addresses[32];
  lane_addresses<u64>(w, s, addresses);
  return global_access<Elements<T, Word, kVector>, T, kKind>(w, s, addresses);
}

/// Byte offset of the first lane's data in shared or local memory, lane by lane.
template <typename E, AccessKind kKind>
const Step* window_access(Warp& w, const Step* s, const u64* addresses, u32 mask, bool shared) {
  StepStats& stats = w.stats[s->stats];
  const LocalWindows windows = shared ? LocalWindows{w.launch->shared_window} : local_windows(w);
  alignas(32) u64 offsets[32];
  std::byte* host[32];
  u64 end = 0;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    offsets[i] = addresses[i] - windows.of(i);
    if (offsets[i] + E::kBytes > end) end = offsets[i] + E::kBytes;
  }
  if (!shared && !grow_local(w, s, end)) return w.stop;
  const u64 limit = shared ? w.shared_bytes : w.local_stride;
  const StateSpace space = shared ? StateSpace::kShared : StateSpace::kLocal;
  if (!check_offsets(w, s, offsets, mask, E::kBytes, limit, space, kKind)) return w.stop;
  if (mask == 0) return s + 1;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    host[i] =
        shared ? shared_place(w, offsets[i], E::kBytes) : local_place(w, i, offsets[i], E::kBytes);
  }
  if (!w.launch->counts) {
    // Nobody asks what the access costs.
  } else if (shared) {
    u32 narrow[32];
    for (int i = 0; i < 32; ++i) narrow[i] = (mask >> i) & 1 ? static_cast<u32>(offsets[i]) : 0;
    count_shared(stats,
                 memory::shared_wavefronts(narrow, mask, E::kBytes, kKind == AccessKind::kLoad));
  } else {
    count_local(stats, offsets, mask, E::kBytes);
  }
  if (w.observer != nullptr) observe(w, s, space, kKind, mask, E::kBytes, offsets);
  if constexpr (kKind == AccessKind::kLoad)
    E::gather(w, s, host, mask);
  else
    E::scatter(w, s, host, mask);
  return s + 1;
}

/// Lanes of one warp may point into different spaces.
template <typename T, typename Word, int kVector, AccessKind kKind>
const Step* generic_access(Warp& w, const Step* s) {
  using E = Elements<T, Word, kVector>;
  alignas(32) u64 addresses[32];
  lane_addresses<u64>(w, s, addresses);
  constexpr u64 kSize = memory::AddressSpace::kSharedWindowBytes;
  const LocalWindows locals = local_windows(w);
  u32 shared = 0, local = 0;
  MEMBOUND_LANES {
    shared |= static_cast<u32>(addresses[i] - w.launch->shared_window < kSize) << i;
    local |= static_cast<u32>(locals.has(i, addresses[i])) << i;
  }
  shared &= w.mask;
  local &= w.mask;
  if ((shared | local) == 0) [[likely]]
    return global_access<E, T, kKind>(w, s, addresses);
  const u32 whole = w.mask;
  const bool was_full = w.full;
  const Step* next = s + 1;
  const u32 parts[3] = {shared, local, whole & ~shared & ~local};
  for (int p = 0; p < 3 && next == s + 1; ++p) {
    if (parts[p] == 0) continue;
    if (parts[p] != whole) set_mask(w, parts[p]);
    next = p == 2 ? scattered<E, kKind>(w, s, addresses)
                  : window_access<E, kKind>(w, s, addresses, parts[p], p == 0);
    if (parts[p] != whole) set_mask(w, whole);
  }
  w.full = was_full;
  return next;
}

template <AccessKind kKind>
struct GlobalHandlers {
  template <typename T, typename Word, int kVector>
  static Handler of(const Instruction& in) {
    return in.space == StateSpace::kNone ? &generic_access<T, Word, kVector, kKind>
                                         : &global<T, Word, kVector, kKind>;
  }
};

}  // namespace

Handler select_global(const Instruction& in) {
  if (in.space != StateSpace::kGlobal && in.space != StateSpace::kNone &&
      in.space != StateSpace::kConst)
    return nullptr;
  const auto& access = in.as<program::Access>();
  if (access.address_bits != 64 || access.in_frame) return nullptr;
  return handler_of_access<GlobalHandlers>(in);
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
