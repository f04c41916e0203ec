// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of shared memory.
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/access_handlers.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using ptx::StateSpace;

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

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
