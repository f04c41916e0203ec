// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What integer arithmetic, logic, shifts, bit fields and permutations do to one lane: pure
/// functions, no state. Add, Sub and Copy serve floats too. Source: PTX ISA 9.0, chapters named in
/// device_code/ptx/opcodes.def.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "grader/vgpu/exec/state/lanes.hpp"

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

struct Shl {
  template <typename T>
  static T run(T a, u32 b) {
    return b >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << (b & (8 * sizeof(T) - 1)));
  }
};
struct Shr {
  template <typename T>
  static T run(T a, u32 b) {
    constexpr u32 kBits = 8 * sizeof(T);
    const u32 by = b >= kBits ? kBits - 1 : b;
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> by);
    else
      return b >= kBits ? T{0} : static_cast<T>(a >> by);
  }
};
template <bool kLeft, bool kWrapped>
struct Shf {
  static u32 run(u32 low, u32 high, u32 by) {
    const u32 n = kWrapped ? by & 31 : (by > 32 ? 32 : by);
    const u64 both = u64{high} << 32 | low;
    return kLeft ? static_cast<u32>((both << n) >> 32) : static_cast<u32>(both >> n);
  }
};

struct Popc {
  template <typename T>
  static u32 run(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct Clz {
  template <typename T>
  static u32 run(T a) {
    return static_cast<u32>(std::countl_zero(a));
  }
};
template <bool kShift>
struct Bfind {
  template <typename T>
  static u32 run(T a) {
    using U = Unsigned<T>;
    U bits = static_cast<U>(a);
    if constexpr (std::is_signed_v<T>) bits = a < 0 ? static_cast<U>(~bits) : bits;
    if (bits == 0) return 0xFFFFFFFFu;
    const u32 from_top = static_cast<u32>(std::countl_zero(bits));
    return kShift ? from_top : 8 * sizeof(T) - 1 - from_top;
  }
};
struct Brev {
  template <typename T>
  static T run(T a) {
    T r = 0;
    for (u32 k = 0; k < 8 * sizeof(T); ++k) r = static_cast<T>(r << 1 | ((a >> k) & 1));
    return r;
  }
};
/// Position or length of a bit field. Of 32 bits, eight count; the routine for 64 bits looks at all
/// of them (seen on an H200), so that a large one is only ever too large.
template <typename T>
inline u32 field_number(u32 number) {
  if constexpr (sizeof(T) == 8) return number < 0xFF ? number : 0xFF;
  return number & 0xFF;
}
struct Bfe {
  template <typename T>
  static T run(T a, u32 position, u32 length) {
    constexpr u32 kBits = 8 * sizeof(T);
    position = field_number<T>(position);
    length = field_number<T>(length);
    using U = Unsigned<T>;
    const bool sign = std::is_signed_v<T> && length != 0 &&
                      ((static_cast<U>(a) >>
                        (position + length - 1 < kBits - 1 ? position + length - 1 : kBits - 1)) &
                       1);
    U field = position < kBits ? static_cast<U>(static_cast<U>(a) >> position) : U{0};
    // Bits beyond the top of `a`, or beyond the field, are the sign.
    const u32 valid = position < kBits ? kBits - position : 0;
    const u32 keep = length < valid ? length : valid;
    const U mask = keep >= kBits ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << keep) - 1);
    field &= mask;
    return static_cast<T>(sign ? field | static_cast<U>(~mask) : field);
  }
};
struct Bfi {
  template <typename T>
  static T run(T a, T b, u32 position, u32 length) {
    constexpr u32 kBits = 8 * sizeof(T);
    position = field_number<T>(position);
    length = field_number<T>(length);
    if (position >= kBits || length == 0) return b;
    const u32 keep = length < kBits - position ? length : kBits - position;
    const T ones = keep >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << keep) - 1);
    const T mask = static_cast<T>(ones << position);
    return static_cast<T>((b & ~mask) | ((a << position) & mask));
  }
};
template <bool kWrapped>
struct Bmsk {
  static u32 run(u32 from, u32 count) {
    if (kWrapped) from &= 31, count &= 31;
    if (from >= 32 || count == 0) return 0;
    const u32 ones = count >= 32 ? 0xFFFFFFFFu : (1u << count) - 1;
    return ones << from;
  }
};
template <bool kWrapped>
struct Szext {
  template <typename T>
  static T run(T a, u32 bits) {
    if (kWrapped) bits &= 31;
    if (bits >= 32) return a;
    if (bits == 0) return 0;
    const u32 up = 32 - bits;
    return static_cast<T>(static_cast<T>(static_cast<u32>(a) << up) >> up);
  }
};
struct Fns {
  static u32 run(u32 mask, u32 base, u32 offset) {
    const i32 n = static_cast<i32>(offset);
    if (base > 31) return 0xFFFFFFFFu;
    if (n == 0) return (mask >> base) & 1 ? base : 0xFFFFFFFFu;
    u32 left = n > 0 ? offset : 0u - offset;
    for (i32 at = static_cast<i32>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
      if ((mask >> at) & 1 && --left == 0) return static_cast<u32>(at);
    }
    return 0xFFFFFFFFu;
  }
};
/// Byte `selector & 7` of the pair; bit 3 replicates its sign instead.
inline u32 permuted_byte(u64 pair, u32 selector) {
  const u32 byte = static_cast<u32>(pair >> (8 * (selector & 7))) & 0xFF;
  return selector & 8 ? (byte & 0x80 ? 0xFFu : 0u) : byte;
}
template <int kMode>  // program::PermuteMode
struct Prmt {
  static u32 run(u32 a, u32 b, u32 c) {
    const u64 pair = u64{b} << 32 | a;
    const u32 n = c & 3;
    u32 r = 0;
    for (u32 k = 0; k < 4; ++k) {
      u32 selector = 0;
      switch (kMode) {
        case 0:
          selector = (c >> (4 * k)) & 15;
          break;
        case 1:
          selector = (n + k) & 7;
          break;  // f4e
        case 2:
          selector = (n - k) & 7;
          break;  // b4e
        case 3:
          selector = n;
          break;  // rc8
        case 4:
          selector = k > n ? k : n;
          break;  // ecl
        case 5:
          selector = k < n ? k : n;
          break;  // ecr
        default:
          selector = (n & 1) * 2 + (k & 1);
          break;  // rc16
      }
      r |= permuted_byte(pair, selector) << (8 * k);
    }
    return r;
  }
};

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
