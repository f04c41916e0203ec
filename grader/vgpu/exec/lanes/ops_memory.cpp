// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores: of global and constant memory and through generic addresses; of shared memory;
/// of local memory and of call parameters, which live in the lane's frame.
///
/// Three shapes of a full warp are fast in global memory: lanes that are neighbours, all lanes at
/// one address, anything else whose lanes all lie in the span of memory this instruction touched
/// last.
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/access_handlers.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"

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

/// Host bytes of 32 lanes far apart in a lazily generated array, if each touches the chunk it
/// touched last.
[[gnu::always_inline]] inline bool in_pieces(const Warp& w, const u64* addresses, u64 bytes,
                                             std::byte** host) {
  if (w.worker->chunks == nullptr) return false;
  const memory::LaneChunks::Row& row = w.worker->chunks->row_of(addresses[0]);
  const u64 limit = memory::LaneChunks::kBytes - bytes;
  u64 outside = 0;
  MEMBOUND_LANES {
    outside |= addresses[i] - row.begin[i] > limit;
    host[i] = reinterpret_cast<std::byte*>(addresses[i] + row.host_offset[i]);
  }
  return outside == 0;
}

/// Host bytes of 32 aligned lanes near each other, once the span of the first one is looked up.
template <u32 kBytes>
bool in_new_span(Warp& w, const Step* s, StepStats& stats, const u64* addresses, std::byte** host) {
  constexpr u64 kFar = memory::AddressSpace::kPageBytes;
  if (addresses[31] - addresses[0] >= kFar) return false;
  if (translate_range(w, s, addresses[0], kBytes) == nullptr) return false;
  const u64 begin = stats.span_begin, limit = stats.span_bytes - kBytes;
  const u64 offset = static_cast<u64>(stats.host_offset);
  u64 outside = 0;
  MEMBOUND_LANES {
    outside |= addresses[i] - begin > limit;
    host[i] = reinterpret_cast<std::byte*>(addresses[i] + offset);
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
    if (mask == 0xFFFFFFFFu && (in_pieces(w, addresses, kBytes, host) ||
                                in_new_span<kBytes>(w, s, stats, addresses, host)))
      return true;
  }
  return translate_slowly(w, s, addresses, mask, kBytes, kind, host);
}

/// Sectors that a store leaves half written, and those that this one fills of the stores before it.
inline void count_partial(Warp& w, StepStats& stats, const u64* addresses, u32 mask, u32 bytes) {
  const memory::StoredSectors store = memory::stored_sectors(addresses, mask, bytes);
  if (store.partial == 0) return;
  stats.partial_store_sectors += store.partial;
  const memory::WriteCombiner::Filled filled = w.write_combiner.add(store);
  stats.filled_store_sectors += filled.sectors;
  stats.merged_store_sectors += filled.combined;
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
      if constexpr (kKind == AccessKind::kStore) {
        count_partial(w, stats, addresses, mask, E::kBytes);
      } else {
        count_passes(
            stats, cost.lines,
            memory::load_passes(addresses, mask, E::kBytes, memory::lowest_line(addresses, mask)));
        w.write_combiner.load();
      }
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
        const auto cost = memory::coalesce_contiguous(addresses[0], 32, E::kBytes);
        count_global(stats, cost);
        if constexpr (kKind == AccessKind::kLoad)
          count_passes(stats, cost.lines, memory::contiguous_load_passes(E::kBytes));
        if (w.observer != nullptr) [[unlikely]]
          observe(w, s, StateSpace::kGlobal, kKind, w.mask, E::kBytes, addresses,
                  LanePattern::kRow);
        if constexpr (kKind == AccessKind::kLoad)
          E::load_row(w, s, reinterpret_cast<const T*>(host));
        else
          E::store_row(w, s, reinterpret_cast<T*>(host));
        if (kKind == AccessKind::kLoad)
          w.write_combiner.load();
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

/// Constant memory by pointers of 32 bits, as clang makes them: a program's variables lie less than
/// 2 GiB from each other.
template <typename T, typename Word, int kVector>
const Step* short_constant(Warp& w, const Step* s) {
  alignas(32) u64 addresses[32];
  lane_addresses<u32>(w, s, addresses);
  const u64 near = w.launch->constant_variable;
  MEMBOUND_LANES {
    const u32 apart = static_cast<u32>(addresses[i]) - static_cast<u32>(near);
    addresses[i] =
        near + static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(apart)));
  }
  return scattered<Elements<T, Word, kVector>, AccessKind::kLoad>(w, s, addresses);
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

template <AccessKind kKind>
struct ShortConstantHandlers {
  template <typename T, typename Word, int kVector>
  static Handler of(const Instruction&) {
    if constexpr (kKind == AccessKind::kLoad) return &short_constant<T, Word, kVector>;
    return nullptr;
  }
};

}  // namespace

Handler select_global(const Instruction& in) {
  if (in.space != StateSpace::kGlobal && in.space != StateSpace::kNone &&
      in.space != StateSpace::kConst)
    return nullptr;
  const auto& access = in.as<program::Access>();
  if (access.in_frame) return nullptr;
  if (access.address_bits == 32 && in.space == StateSpace::kConst)
    return handler_of_access<ShortConstantHandlers>(in);
  return access.address_bits == 64 ? handler_of_access<GlobalHandlers>(in) : nullptr;
}

namespace {

/// Lanes missing, an offset outside or misaligned: lane by lane.
template <typename T, typename Word, int kVector, bool kLoad>
const Step* shared_slowly(Warp& w, const Step* s, const u32* narrow) {
  constexpr u32 kBytes = sizeof(T) * kVector;
  constexpr AccessKind kKind = kLoad ? AccessKind::kLoad : AccessKind::kStore;
  alignas(32) u64 offsets[32];
  MEMBOUND_LANES offsets[i] = narrow[i];
  u32 mask = w.mask;
  if (!check_offsets(w, s, offsets, mask, kBytes, w.shared_bytes, StateSpace::kShared, kKind))
    return w.stop;
  if (mask == 0) return s + 1;
  if (w.launch->counts)
    count_shared(w.stats[s->stats], memory::shared_wavefronts(narrow, mask, kBytes, kLoad));
  if (w.observer != nullptr) observe(w, s, StateSpace::kShared, kKind, mask, kBytes, offsets);
  for (unsigned v = 0; v < kVector; ++v) {
    Word* words = at<Word>(w, kLoad ? (kVector == 1 ? s->d : s->extra->d[v])
                                    : (kVector == 1 ? s->b : s->extra->s[1 + v]));
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      std::byte* place = shared_place(w, narrow[i] + u64{v} * sizeof(T), sizeof(T));
      if constexpr (kLoad) {
        T value;
        std::memcpy(&value, place, sizeof value);
        words[i] = widen<Word>(value);
      } else {
        const T value = static_cast<T>(words[i]);
        std::memcpy(place, &value, sizeof value);
      }
    }
  }
  return s + 1;
}

template <bool kLoad>
[[gnu::noinline]] void tell(Warp& w, const Step* s, const u32* narrow, u32 bytes,
                            LanePattern shape) {
  const bool is_plain = shape == LanePattern::kRow || shape == LanePattern::kSame;
  if (kLoad && is_plain && w.settled != nullptr && w.settled->has(narrow[0], bytes, shape)) return;
  alignas(32) u64 offsets[32];
  MEMBOUND_LANES offsets[i] = narrow[i];
  observe(w, s, StateSpace::kShared, kLoad ? AccessKind::kLoad : AccessKind::kStore, w.mask, bytes,
          offsets, shape);
}

/// Wavefronts of all lanes, at multiples of 4.
memory::Wavefronts pattern_wavefronts(Warp& w, const Step* s, const u32* offsets, u32 bytes,
                                      bool is_load) {
  if (!w.launch->counts) return {};
  auto& all = w.block->worker->known_patterns;
  memory::KnownPattern& known = all[s->stats % all.size()];
  u32 differs = static_cast<u32>(known.bytes != bytes || known.is_load != is_load);
  MEMBOUND_LANES differs |= known.apart[i] ^ (offsets[i] - offsets[0]);
  if (differs != 0) {
    MEMBOUND_LANES known.apart[i] = offsets[i] - offsets[0];
    known.bytes = bytes;
    known.is_load = is_load;
    known.cost = bytes == 4 ? word_wavefronts(offsets, bytes, is_load)
                            : memory::shared_wavefronts(offsets, 0xFFFFFFFFu, bytes, is_load);
  }
  return known.cost;
}

template <typename T, typename Word, int kVector, bool kLoad>
void move_vectors(Warp& w, const Step* s, const u32* offsets) {
  Word* words[kVector];
  for (int v = 0; v < kVector; ++v)
    words[v] = at<Word>(w, kLoad ? s->extra->d[v] : s->extra->s[1 + v]);
  for (int i = 0; i < 32; ++i) {
    T* const place = reinterpret_cast<T*>(w.shared + offsets[i]);
    for (int v = 0; v < kVector; ++v) {
      if constexpr (kLoad)
        words[v][i] = widen<Word>(place[v]);
      else
        place[v] = static_cast<T>(words[v][i]);
    }
  }
}

template <typename T, typename Word, int kVector, bool kLoad, typename Address>
const Step* shared(Warp& w, const Step* s) {
  constexpr u32 kBytes = sizeof(T) * kVector;
  const auto* a = at<const Address>(w, s->a);
  const u32 offset = static_cast<u32>(s->address.offset);
  alignas(32) u32 offsets[32];
  MEMBOUND_LANES offsets[i] = static_cast<u32>(a[i]) + offset;
  if (w.mask != 0xFFFFFFFFu) return shared_slowly<T, Word, kVector, kLoad>(w, s, offsets);
  u32 outside = w.shared_bytes < kBytes, misaligned = 0;
  const u32 limit = w.shared_bytes - kBytes;
  MEMBOUND_LANES {
    outside |= offsets[i] > limit;
    misaligned |= offsets[i];
  }
  if (outside != 0 || (misaligned & (kBytes - 1)) != 0) [[unlikely]]
    return shared_slowly<T, Word, kVector, kLoad>(w, s, offsets);
  StepStats& stats = w.stats[s->stats];
  if constexpr (kVector != 1) {
    if (w.observer != nullptr) [[unlikely]]
      tell<kLoad>(w, s, offsets, kBytes, LanePattern::kUnknown);
    count_shared(stats, kBytes >= 4
                            ? pattern_wavefronts(w, s, offsets, kBytes, kLoad)
                            : memory::shared_wavefronts(offsets, 0xFFFFFFFFu, kBytes, kLoad));
    move_vectors<T, Word, kVector, kLoad>(w, s, offsets);
  } else {
    u32 not_row = 0, not_same = 0;
    MEMBOUND_LANES {
      not_row |= (offsets[i] - offsets[0]) ^ (static_cast<u32>(i) * kBytes);
      not_same |= offsets[i] ^ offsets[0];
    }
    Word* words = at<Word>(w, kLoad ? s->d : s->b);
    T* row = reinterpret_cast<T*>(w.shared + offsets[0]);
    constexpr u32 kPasses = kBytes <= 4 ? 1 : kBytes / 4;
    if (w.observer != nullptr) [[unlikely]]
      tell<kLoad>(w, s, offsets, kBytes,
                  not_row == 0    ? LanePattern::kRow
                  : not_same == 0 ? LanePattern::kSame
                                  : LanePattern::kOther);
    if (not_row == 0) {
      count_shared(stats, {kPasses, kPasses, 32 * kBytes});
      if constexpr (kLoad) {
        MEMBOUND_LANES words[i] = widen<Word>(row[i]);
      } else {
        MEMBOUND_LANES row[i] = static_cast<T>(words[i]);
      }
    } else if (kLoad && not_same == 0) {
      count_shared(stats, {1, 1, kBytes});
      const Word value = widen<Word>(row[0]);
      MEMBOUND_LANES words[i] = value;
    } else {
      count_shared(stats, kBytes >= 4 ? pattern_wavefronts(w, s, offsets, kBytes, kLoad)
                                      : word_wavefronts(offsets, kBytes, kLoad));
      for (int i = 0; i < 32; ++i) {
        T* place = reinterpret_cast<T*>(w.shared + offsets[i]);
        if constexpr (kLoad)
          words[i] = widen<Word>(*place);
        else
          *place = static_cast<T>(words[i]);
      }
    }
  }
  return s + 1;
}

template <AccessKind kKind>
struct SharedHandlers {
  template <typename T, typename Word, int kVector>
  static Handler of(const Instruction& in) {
    constexpr bool kLoad = kKind == AccessKind::kLoad;
    return in.as<program::Access>().address_bits == 64 ? &shared<T, Word, kVector, kLoad, u64>
                                                       : &shared<T, Word, kVector, kLoad, u32>;
  }
};

}  // namespace

Handler select_shared(const Instruction& in) {
  return in.space == StateSpace::kShared ? handler_of_access<SharedHandlers>(in) : nullptr;
}

namespace {

using program::Opcode;

/// One element of `bytes` (1 … 8), widened by its sign if it has one.
u64 read_element(const std::byte* place, u32 bytes, bool is_signed) {
  u64 value = 0;
  std::memcpy(&value, place, bytes);
  const u32 up = 64 - 8 * bytes;
  return is_signed ? static_cast<u64>(static_cast<i64>(value << up) >> up) : value;
}

bool is_signed_up_to_word(ptx::ScalarType type) {
  return type == ptx::ScalarType::kS8 || type == ptx::ScalarType::kS16 ||
         type == ptx::ScalarType::kS32;
}

template <bool kLoad>
void move_element(Warp& w, const Instruction& in, const Step* s, unsigned v, int lane,
                  std::byte* place, u32 bytes) {
  const auto slots = kLoad ? in.d_slots : in.s_slots;
  const Ref ref = kLoad ? s->extra->d[v] : s->extra->s[1 + v];
  if (slots == 4) {  // 128 bits: low half, then high half
    for (u32 half = 0; half < 2; ++half) {
      u64* word = at<u64>(w, ref + 256 * half) + lane;
      if constexpr (kLoad)
        std::memcpy(word, place + 8 * half, 8);
      else
        std::memcpy(place + 8 * half, word, 8);
    }
  } else if (kLoad) {
    const u64 value = read_element(place, bytes, is_signed_up_to_word(in.type));
    if (slots == 2)
      at<u64>(w, ref)[lane] = value;
    else
      at<u32>(w, ref)[lane] = static_cast<u32>(value);
  } else {
    const u64 value = slots == 2 ? at<u64>(w, ref)[lane] : at<u32>(w, ref)[lane];
    std::memcpy(place, &value, bytes);
  }
}

/// Whether every lane may access `bytes` at `offset` without being looked at one by one. Memcheck
/// knows what a thread really has, which is less than what is kept for it.
bool is_row_in(const Warp& w, u64 offset, u32 bytes) {
  return !w.launch->precise && offset < w.local_stride && bytes <= w.local_stride - offset &&
         offset % bytes == 0;
}

/// All lanes' words at one offset, as where an index is the same in all of them.
template <typename Word, bool kLoad>
void move_rows(Warp& w, const Instruction& in, const Step* s, u64 offset) {
  const u64 stride = w.local_stride;
  for (unsigned v = 0; v < in.vector; ++v) {
    std::byte* place = local_place(w, 0, offset + v * sizeof(Word), sizeof(Word));
    Word* words = at<Word>(w, kLoad ? s->extra->d[v] : s->extra->s[1 + v]);
    for (u64 i = 0; i < 32; ++i) {
      if constexpr (kLoad)
        std::memcpy(words + i, place + i * stride, sizeof(Word));
      else
        std::memcpy(place + i * stride, words + i, sizeof(Word));
    }
  }
}

template <typename Address, bool kLoad>
const Step* local(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const u32 bytes = ptx::size_bytes(in.type);
  const u32 total = bytes * in.vector;
  const AccessKind kind = kLoad ? AccessKind::kLoad : AccessKind::kStore;
  alignas(32) u64 offsets[32];
  lane_addresses<Address>(w, s, offsets);
  if (in.as<program::Access>().in_frame) {
    const u64 base = w.frame->local_base;
    MEMBOUND_LANES offsets[i] += base;
  }
  u32 mask = w.mask;
  u64 end = 0;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    const u64 last = offsets[std::countr_zero(rest)] + total;
    end = last > end ? last : end;
  }
  if (!grow_local(w, s, end)) return w.stop;
  const auto slots = kLoad ? in.d_slots : in.s_slots;
  const bool is_row = mask == 0xFFFFFFFFu && has_stride(offsets, 0) && slots <= 2 &&
                      bytes == 4u * slots && is_row_in(w, offsets[0], total);
  if (is_row) {
    if (slots == 1)
      move_rows<u32, kLoad>(w, in, s, offsets[0]);
    else
      move_rows<u64, kLoad>(w, in, s, offsets[0]);
  } else {
    if (!check_offsets(w, s, offsets, mask, total, w.local_stride, StateSpace::kLocal, kind))
      return w.stop;
    if (mask == 0) return s + 1;
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      std::byte* place = local_place(w, i, offsets[i], total);
      for (unsigned v = 0; v < in.vector; ++v)
        move_element<kLoad>(w, in, s, v, i, place + v * bytes, bytes);
    }
  }
  if (!in.has(program::kParamMemory)) {
    StepStats& stats = w.stats[s->stats];
    if (w.launch->counts && is_row) {
      stats.local_requests += local_words(total);
      stats.local_sectors += 4 * local_words(total);  // a row is one word of each lane
    } else if (w.launch->counts) {
      count_local(stats, offsets, mask, total);
    }
    if (w.observer != nullptr) observe(w, s, StateSpace::kLocal, kind, mask, total, offsets);
  }
  return s + 1;
}

}  // namespace

Handler select_local(const Instruction& in) {
  const bool load = in.opcode != Opcode::kSt;
  const auto& access = in.as<program::Access>();
  if (in.space != StateSpace::kLocal && !access.in_frame) return nullptr;
  // 16 bytes are moved from and to four slots, up to 8 from and to one or two.
  const auto slots = load ? in.d_slots : in.s_slots;
  const u32 bytes = ptx::size_bytes(in.type);
  if (bytes == 0 || (bytes == 16) != (slots == 4)) return nullptr;
  if (access.address_bits == 64) return load ? &local<u64, true> : &local<u64, false>;
  return load ? &local<u32, true> : &local<u32, false>;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
