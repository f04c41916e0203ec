// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The elements that a warp's load or store moves between memory and registers.
/// Place in the chain: ops_global -> [access_elements].
#pragma once

#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/access_handlers.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

template <typename T, typename Word, int kVector>
struct Elements {
  static constexpr u32 kBytes = sizeof(T) * kVector;

  static void write_back(Warp& w, const Step* s, const Word (*out)[32]) {
    for (int v = 0; v < kVector; ++v)
      write_lanes(w, kVector == 1 ? s->d : s->extra->d[static_cast<unsigned>(v)], out[v]);
  }

  /// Neighbouring lanes: one piece of memory, taken apart.
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
