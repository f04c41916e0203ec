// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What integer arithmetic and logic do to one lane: pure functions, no state. Add, Sub and Copy
/// serve floats too.
/// Place in the chain: ops_*.cpp loop over them; unit tests call them directly.
/// Source: PTX ISA 9.0, chapters named in device_code/ptx/opcodes.def.
#pragma once

#include <cstdint>
#include <type_traits>

#include "grader/vgpu/exec/state/word_types.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// The type twice as wide: `Wide<i16>` is i32.
i32 widened(i16);
u32 widened(u16);
i64 widened(i32);
u64 widened(u32);
__int128 widened(i64);
unsigned __int128 widened(u64);
template <typename T>
using Wide = decltype(widened(T{}));

struct Add {
  template <typename T>
  static T run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
    else
      return a + b;
  }
};
struct Sub {
  template <typename T>
  static T run(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
    else
      return a - b;
  }
};
inline i32 saturated(i64 value) {
  return static_cast<i32>(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}
struct AddSat {
  static i32 run(i32 a, i32 b) { return saturated(i64{a} + b); }
};
struct SubSat {
  static i32 run(i32 a, i32 b) { return saturated(i64{a} - b); }
};
struct MulLo {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
  }
};
struct MulHi {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T>
  static Wide<T> run(T a, T b) {
    return static_cast<Wide<T>>(Wide<T>(a) * Wide<T>(b));
  }
};
struct MadLo {
  template <typename T>
  static T run(T a, T b, T c) {
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c));
  }
};
struct MadHi {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(MulHi::run(a, b), c);
  }
};
struct MadHiSat {
  static i32 run(i32 a, i32 b, i32 c) { return AddSat::run(MulHi::run(a, b), c); }
};
struct MadWide {
  template <typename T, typename W>
  static W run(T a, T b, W c) {
    return Add::run(static_cast<W>(MulWide::run(a, b)), c);
  }
};
template <bool kHigh>
struct Mul24 {
  template <typename T>
  static T run(T a, T b) {
    const auto low = [](T v) { return static_cast<i64>(static_cast<T>(Unsigned<T>(v) << 8)) >> 8; };
    const auto low_u = [](T v) { return static_cast<u64>(v) & 0xFFFFFF; };
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>((low(a) * low(b)) >> (kHigh ? 16 : 0));
    else
      return static_cast<T>((low_u(a) * low_u(b)) >> (kHigh ? 16 : 0));
  }
};
template <bool kHigh>
struct Mad24 {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(Mul24<kHigh>::run(a, b), c);
  }
};
struct Sad {
  template <typename T>
  static T run(T a, T b, T c) {
    return Add::run(c, a < b ? Sub::run(b, a) : Sub::run(a, b));
  }
};
struct Div {  // by zero: all ones, as the hardware's routine gives
  template <typename T>
  static T run(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub::run(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {  // by zero: the dividend, but all ones for 16 bits
  template <typename T>
  static T run(T a, T b) {
    if (b == 0) return sizeof(T) == 2 ? static_cast<T>(~T{0}) : a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Abs {
  template <typename T>
  static T run(T a) {
    return a < 0 ? Sub::run(T{0}, a) : a;
  }
};
struct Neg {
  template <typename T>
  static T run(T a) {
    return Sub::run(T{0}, a);
  }
};
struct Min {
  template <typename T>
  static T run(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  static T run(T a, T b) {
    return a < b ? b : a;
  }
};
template <typename Inner>
struct Relu {
  template <typename T>
  static T run(T a, T b) {
    return Max::run(Inner::run(a, b), T{0});
  }
};

struct And {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  static T run(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  static T run(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Copy {
  template <typename T>
  static T run(T a) {
    return a;
  }
};
template <typename A, typename B>
struct Dp4a {
  static u32 run(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 32; k += 8)
      c += static_cast<u32>(static_cast<i32>(static_cast<A>(a >> k)) *
                            static_cast<i32>(static_cast<B>(b >> k)));
    return c;
  }
};
template <typename A, typename B, bool kHigh>
struct Dp2a {  // A: 16-bit type of a, B: 8-bit type of b
  static u32 run(u32 a, u32 b, u32 c) {
    if (kHigh) b >>= 16;
    for (int k = 0; k < 2; ++k)
      c += static_cast<u32>(static_cast<i32>(static_cast<A>(a >> (16 * k))) *
                            static_cast<i32>(static_cast<B>(b >> (8 * k))));
    return c;
  }
};

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
