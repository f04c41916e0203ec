// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What shifts, bit fields and permutations do to one lane: pure functions, no state.
/// Place in the chain: ops_bits loops over them.
/// Source: PTX ISA 9.0, chapters named in device_code/ptx/opcodes.def.
#pragma once

#include <bit>
#include <type_traits>

#include "grader/vgpu/exec/lanes/lane_math.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {

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
