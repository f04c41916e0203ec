// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loops over 32 lanes that compilers turn into vector instructions, and the handlers made of them.
/// Included only by what is compiled once for every processor and once with AVX2: everything here
/// lives in a namespace of its own per variant (MEMBOUND_ISA).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "grader/vgpu/exec/state/execution_state.hpp"

#ifndef MEMBOUND_ISA
#define MEMBOUND_ISA generic
#endif

namespace membound::vgpu::exec::MEMBOUND_ISA {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace membound::vgpu::exec::MEMBOUND_ISA

#ifndef MEMBOUND_ISA
#define MEMBOUND_ISA generic
#endif

// Registers never overlap in part: iterations are independent.
#if defined(__clang__)
#define MEMBOUND_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MEMBOUND_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define MEMBOUND_LANES MEMBOUND_INDEPENDENT for (int i = 0; i < 32; ++i)

namespace membound::vgpu::exec::MEMBOUND_ISA {

/// The 32 words behind a Ref.
template <typename Word>
[[gnu::always_inline]] inline Word* at(const Warp& w, Ref ref) {
  return reinterpret_cast<Word*>(w.bases[ref >> 30] + (ref & 0x3FFFFFFFu));
}

/// A predicate operand as a lane mask.
[[gnu::always_inline]] inline std::uint32_t predicate(const Warp& w, Ref ref) {
  return w.predicates[ref >> 1] ^ (0u - (ref & 1));
}

/// Writes the running lanes of a predicate.
[[gnu::always_inline]] inline void set_predicate(Warp& w, Ref ref, std::uint32_t value) {
  std::uint32_t& p = w.predicates[ref >> 1];
  p = (p & ~w.mask) | (value & w.mask);
}

/// How a value of type T sits in a register: 8- and 16-bit values in the low bits of 32.
template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
[[gnu::always_inline]] inline T from_word(WordOf<T> word) {
  if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<T>(word);
  } else {
    return static_cast<T>(word);
  }
}

template <typename T>
[[gnu::always_inline]] inline WordOf<T> to_word(T value) {
  if constexpr (sizeof(T) >= 4) {
    return std::bit_cast<WordOf<T>>(value);
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

/// Counts the instructions from the start of the current run up to (not including) `end`.
[[gnu::always_inline]] inline void end_run(Warp& w, const Step* end) {
  const Step* base = w.launch->steps.data();
  const std::int64_t lanes = lane_count(w.mask);
  const std::ptrdiff_t first = w.run_begin - base, last = end - base;
  Worker& worker = *w.worker;
  const RunDelta run = {1, lanes};
  worker.runs[static_cast<std::size_t>(first)] += run;
  worker.runs[static_cast<std::size_t>(last)] -= run;
  const PathSum* weights = w.launch->critical_path.data();
  w.path += weights[last] - weights[first];
  worker.instructions += static_cast<std::uint64_t>(last - first);
}

/// Work that each lane does by itself, or on many bytes, as so many more instructions of its warp:
/// it shortens the warp's turn, too. Of a sample all that counts is how many instructions it has.
inline void charge(Warp& w, std::uint64_t instructions) {
  if (!w.launch->chosen.empty()) return;
  w.worker->toll += instructions;
  w.time_slice -= static_cast<std::int32_t>(
      std::min<std::uint64_t>(instructions, static_cast<std::uint64_t>(std::max(w.time_slice, 0))));
}

/// Leaves the inner loop: the group goes on at `next` later.
[[gnu::always_inline]] inline const Step* leave(Warp& w, const Step* s, const Step* next,
                                                Leave why) {
  end_run(w, s);
  w.groups[w.current].pc = next;
  w.leave = why;
  return w.stop;
}

template <typename Op, typename D, typename A>
const Step* unary(Warp& w, const Step* s) {
  auto* __restrict d = at<WordOf<D>>(w, s->d);
  const auto* a = at<const WordOf<A>>(w, s->a);
  if (w.full) [[likely]] {
    MEMBOUND_LANES d[i] = to_word<D>(Op::run(from_word<A>(a[i])));
  } else {
    const std::uint32_t* m = w.lanes.data();
    MEMBOUND_LANES {
      const WordOf<D> value = to_word<D>(Op::run(from_word<A>(a[i])));
      d[i] = m[i] ? value : d[i];
    }
  }
  return s + 1;
}

template <typename Op, typename D, typename A, typename B>
const Step* binary(Warp& w, const Step* s) {
  auto* __restrict d = at<WordOf<D>>(w, s->d);
  const auto* a = at<const WordOf<A>>(w, s->a);
  const auto* b = at<const WordOf<B>>(w, s->b);
  if (w.full) [[likely]] {
    MEMBOUND_LANES d[i] = to_word<D>(Op::run(from_word<A>(a[i]), from_word<B>(b[i])));
  } else {
    const std::uint32_t* m = w.lanes.data();
    MEMBOUND_LANES {
      const WordOf<D> value = to_word<D>(Op::run(from_word<A>(a[i]), from_word<B>(b[i])));
      d[i] = m[i] ? value : d[i];
    }
  }
  return s + 1;
}

template <typename Op, typename D, typename A, typename B, typename C>
const Step* ternary(Warp& w, const Step* s) {
  auto* __restrict d = at<WordOf<D>>(w, s->d);
  const auto* a = at<const WordOf<A>>(w, s->a);
  const auto* b = at<const WordOf<B>>(w, s->b);
  const auto* c = at<const WordOf<C>>(w, s->c);
  if (w.full) [[likely]] {
    MEMBOUND_LANES d[i] =
        to_word<D>(Op::run(from_word<A>(a[i]), from_word<B>(b[i]), from_word<C>(c[i])));
  } else {
    const std::uint32_t* m = w.lanes.data();
    MEMBOUND_LANES {
      const WordOf<D> value =
          to_word<D>(Op::run(from_word<A>(a[i]), from_word<B>(b[i]), from_word<C>(c[i])));
      d[i] = m[i] ? value : d[i];
    }
  }
  return s + 1;
}

/// A lane mask from a comparison.
template <typename Op, typename T>
[[gnu::always_inline]] inline std::uint32_t compare_lanes(const Warp& w, const Step* s) {
  const auto* a = at<const WordOf<T>>(w, s->a);
  const auto* b = at<const WordOf<T>>(w, s->b);
  std::uint32_t mask = 0;
  MEMBOUND_LANES mask |= Op::run(from_word<T>(a[i]), from_word<T>(b[i])) ? 1u << i : 0u;
  return mask;
}

/// Copies a row of register words with the running lanes only.
template <typename Word>
[[gnu::always_inline]] inline void write_lanes(Warp& w, Ref ref, const Word* values) {
  Word* __restrict d = at<Word>(w, ref);
  if (w.full) [[likely]] {
    MEMBOUND_LANES d[i] = values[i];
  } else {
    const std::uint32_t* m = w.lanes.data();
    MEMBOUND_LANES d[i] = m[i] ? values[i] : d[i];
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
