// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which of an access's handlers serves an instruction: by element in memory, by word of a register
/// and by length of a vector; and how such elements move between memory and registers.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

/// T: element in memory. Word: register word, at least as wide for loads.
template <typename Word, typename T>
[[gnu::always_inline]] inline Word widen(T value) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(value));
  else
    return static_cast<Word>(value);
}

template <typename Handlers, typename T, typename Word>
Handler handler_by_vector(const program::Instruction& in) {
  switch (in.vector) {
    case 1:
      return Handlers::template of<T, Word, 1>(in);
    case 2:
      return Handlers::template of<T, Word, 2>(in);
    case 4:
      if constexpr (sizeof(T) <= 4) return Handlers::template of<T, Word, 4>(in);
      return nullptr;
    default:
      return nullptr;
  }
}

template <typename Handlers, typename Word, bool kLoads>
Handler handler_by_element(const program::Instruction& in) {
  using ptx::ScalarType;
  switch (in.type) {
    case ScalarType::kS8:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i8, u8>, Word>(in);
    case ScalarType::kU8:
    case ScalarType::kB8:
      return handler_by_vector<Handlers, u8, Word>(in);
    case ScalarType::kS16:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i16, u16>, Word>(in);
    case ScalarType::kU16:
    case ScalarType::kB16:
    case ScalarType::kF16:
    case ScalarType::kBf16:
      return handler_by_vector<Handlers, u16, Word>(in);
    case ScalarType::kS32:
      return handler_by_vector<Handlers, std::conditional_t<kLoads, i32, u32>, Word>(in);
    case ScalarType::kU32:
    case ScalarType::kB32:
    case ScalarType::kF32:
    case ScalarType::kF16x2:
    case ScalarType::kBf16x2:
      return handler_by_vector<Handlers, u32, Word>(in);
    case ScalarType::kS64:
    case ScalarType::kU64:
    case ScalarType::kB64:
    case ScalarType::kF64:
      if constexpr (sizeof(Word) == 8) return handler_by_vector<Handlers, u64, Word>(in);
      return nullptr;
    default:
      return nullptr;
  }
}

/// `Handlers<kKind>::of<T, Word, kVector>(in)` is the handler of one such access.
template <template <AccessKind> typename Handlers>
Handler handler_of_access(const program::Instruction& in) {
  using Load = Handlers<AccessKind::kLoad>;
  using Store = Handlers<AccessKind::kStore>;
  const bool load = in.opcode != program::Opcode::kSt;
  const auto slots = load ? in.d_slots : in.s_slots;
  if (slots == 1)
    return load ? handler_by_element<Load, u32, true>(in)
                : handler_by_element<Store, u32, false>(in);
  if (slots == 2)
    return load ? handler_by_element<Load, u64, true>(in)
                : handler_by_element<Store, u64, false>(in);
  return nullptr;
}

template <typename T, typename Word, int kVector>
struct Elements {
  static constexpr u32 kBytes = sizeof(T) * kVector;

  static void write_back(Warp& w, const Step* s, const Word (*out)[32]) {
    for (int v = 0; v < kVector; ++v)
      write_lanes(w, kVector == 1 ? s->d : s->extra->d[static_cast<unsigned>(v)], out[v]);
  }

  /// Neighbouring lanes: one row of memory, taken apart.
  [[gnu::always_inline]] static void load_row(Warp& w, const Step* s, const T* from) {
    if constexpr (kVector == 1) {
      Word* __restrict d = at<Word>(w, s->d);
      MEMBOUND_LANES d[i] = widen<Word>(from[i]);
    } else {
      Word* d[kVector];
      for (unsigned v = 0; v < kVector; ++v) d[v] = at<Word>(w, s->extra->d[v]);
      MEMBOUND_LANES for (int v = 0; v < kVector; ++v) d[v][i] = widen<Word>(from[i * kVector + v]);
    }
  }

  [[gnu::always_inline]] static void store_row(Warp& w, const Step* s, T* to) {
    if constexpr (kVector == 1) {
      const Word* a = at<const Word>(w, s->b);
      MEMBOUND_LANES to[i] = static_cast<T>(a[i]);
    } else {
      const Word* a[kVector];
      for (unsigned v = 0; v < kVector; ++v) a[v] = at<const Word>(w, s->extra->s[1 + v]);
      MEMBOUND_LANES for (int v = 0; v < kVector; ++v) to[i * kVector + v] =
          static_cast<T>(a[v][i]);
    }
  }

  static void gather(Warp& w, const Step* s, std::byte* const* host, u32 mask) {
    alignas(32) Word out[kVector][32];
    if (mask == w.mask && mask == 0xFFFFFFFFu) {
      for (int i = 0; i < 32; ++i) {
        T values[kVector];
        std::memcpy(values, host[i], sizeof values);
        for (int v = 0; v < kVector; ++v) out[v][i] = widen<Word>(values[v]);
      }
    } else {
      for (unsigned v = 0; v < kVector; ++v) {
        const Word* old = at<const Word>(w, kVector == 1 ? s->d : s->extra->d[v]);
        std::memcpy(out[v], old, sizeof out[v]);
      }
      for (u32 rest = mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        T values[kVector];
        std::memcpy(values, host[i], sizeof values);
        for (int v = 0; v < kVector; ++v) out[v][i] = widen<Word>(values[v]);
      }
    }
    write_back(w, s, out);
  }

  static void scatter(Warp& w, const Step* s, std::byte* const* host, u32 mask) {
    const Word* a[kVector];
    for (unsigned v = 0; v < kVector; ++v)
      a[v] = at<const Word>(w, kVector == 1 ? s->b : s->extra->s[1 + v]);
    for (u32 rest = mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      T values[kVector];
      for (int v = 0; v < kVector; ++v) values[v] = static_cast<T>(a[v][i]);
      std::memcpy(host[i], values, sizeof values);
    }
  }
};

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
