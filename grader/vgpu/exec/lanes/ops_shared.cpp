// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of shared memory.
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;
using ptx::StateSpace;

template <typename T, typename Word>
[[gnu::always_inline]] inline Word widen(T value) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value));
  else
    return static_cast<Word>(value);
}

/// Lanes missing, a vector, an offset outside or misaligned: lane by lane.
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
        words[i] = widen<T, Word>(value);
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
  if (kLoad && shape != LanePattern::kOther && w.settled != nullptr &&
      w.settled->has(narrow[0], bytes, shape))
    return;
  alignas(32) u64 offsets[32];
  MEMBOUND_LANES offsets[i] = narrow[i];
  observe(w, s, StateSpace::kShared, kLoad ? AccessKind::kLoad : AccessKind::kStore, w.mask, bytes,
          offsets, shape);
}

template <typename T, typename Word, int kVector, bool kLoad, typename Address>
const Step* shared(Warp& w, const Step* s) {
  constexpr u32 kBytes = sizeof(T) * kVector;
  const auto* a = at<const Address>(w, s->a);
  const u32 offset = static_cast<u32>(s->address.offset);
  alignas(32) u32 offsets[32];
  MEMBOUND_LANES offsets[i] = static_cast<u32>(a[i]) + offset;
  if (w.mask != 0xFFFFFFFFu || kVector != 1)
    return shared_slowly<T, Word, kVector, kLoad>(w, s, offsets);
  if constexpr (kVector == 1) {
    u32 outside = w.shared_bytes < kBytes, misaligned = 0;
    const u32 limit = w.shared_bytes - kBytes;
    u32 not_row = 0, not_same = 0;
    MEMBOUND_LANES {
      outside |= offsets[i] > limit;
      misaligned |= offsets[i];
      not_row |= (offsets[i] - offsets[0]) ^ (static_cast<u32>(i) * kBytes);
      not_same |= offsets[i] ^ offsets[0];
    }
    if (outside != 0 || (misaligned & (kBytes - 1)) != 0) [[unlikely]]
      return shared_slowly<T, Word, kVector, kLoad>(w, s, offsets);
    StepStats& stats = w.stats[s->stats];
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
        MEMBOUND_LANES words[i] = widen<T, Word>(row[i]);
      } else {
        MEMBOUND_LANES row[i] = static_cast<T>(words[i]);
      }
    } else if (kLoad && not_same == 0) {
      count_shared(stats, {1, 1, kBytes});
      const Word value = widen<T, Word>(row[0]);
      MEMBOUND_LANES words[i] = value;
    } else {
      count_shared(stats, kBytes <= 4
                              ? word_wavefronts(offsets, kBytes, kLoad)
                              : memory::shared_wavefronts(offsets, 0xFFFFFFFFu, kBytes, kLoad));
      for (int i = 0; i < 32; ++i) {
        T* place = reinterpret_cast<T*>(w.shared + offsets[i]);
        if constexpr (kLoad)
          words[i] = widen<T, Word>(*place);
        else
          *place = static_cast<T>(words[i]);
      }
    }
  }
  return s + 1;
}

template <typename T, typename Word, bool kLoad>
Handler shared_by_vector(const Instruction& in) {
  const bool wide = in.as<program::Access>().address_bits == 64;
  switch (in.vector) {
    case 1:
      return wide ? &shared<T, Word, 1, kLoad, u64> : &shared<T, Word, 1, kLoad, u32>;
    case 2:
      return wide ? &shared<T, Word, 2, kLoad, u64> : &shared<T, Word, 2, kLoad, u32>;
    case 4:
      if constexpr (sizeof(T) <= 4)
        return wide ? &shared<T, Word, 4, kLoad, u64> : &shared<T, Word, 4, kLoad, u32>;
      return nullptr;
    default:
      return nullptr;
  }
}

template <bool kLoad, typename Word>
Handler shared_by_element(const Instruction& in) {
  switch (in.type) {
    case ScalarType::kS8:
      return shared_by_vector<std::conditional_t<kLoad, i8, u8>, Word, kLoad>(in);
    case ScalarType::kU8:
    case ScalarType::kB8:
      return shared_by_vector<u8, Word, kLoad>(in);
    case ScalarType::kS16:
      return shared_by_vector<std::conditional_t<kLoad, i16, u16>, Word, kLoad>(in);
    case ScalarType::kU16:
    case ScalarType::kB16:
    case ScalarType::kF16:
    case ScalarType::kBf16:
      return shared_by_vector<u16, Word, kLoad>(in);
    case ScalarType::kS32:
      return shared_by_vector<std::conditional_t<kLoad, i32, u32>, Word, kLoad>(in);
    case ScalarType::kU32:
    case ScalarType::kB32:
    case ScalarType::kF32:
    case ScalarType::kF16x2:
    case ScalarType::kBf16x2:
      return shared_by_vector<u32, Word, kLoad>(in);
    case ScalarType::kS64:
    case ScalarType::kU64:
    case ScalarType::kB64:
    case ScalarType::kF64:
      if constexpr (sizeof(Word) == 8) return shared_by_vector<u64, Word, kLoad>(in);
      return nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Handler select_shared(const Instruction& in) {
  const bool load = in.opcode != Opcode::kSt;
  if (in.space != StateSpace::kShared) return nullptr;
  const auto slots = load ? in.d_slots : in.s_slots;
  if (slots == 1)
    return load ? shared_by_element<true, u32>(in) : shared_by_element<false, u32>(in);
  if (slots == 2)
    return load ? shared_by_element<true, u64>(in) : shared_by_element<false, u64>(in);
  return nullptr;
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
