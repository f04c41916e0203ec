// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What an atomic does to the word at its address. With several workers it is a real atomic
/// operation; only those whose outcome does not depend on order run that way.
/// Place in the chain: ops_atomic -> [atomic_math] -> float_math, half_math.
#pragma once

#include <atomic>
#include <bit>

#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/half_math.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec::generic {

using program::Atomic;
using ptx::ScalarType;

template <typename Format>
u16 half_operation(Atomic operation, u16 a, u16 b) {
  const float x = widen_half<Format>(a), y = widen_half<Format>(b);
  const float r = operation == Atomic::kMin   ? FMin::run(x, y)
                  : operation == Atomic::kMax ? FMax::run(x, y)
                                              : 0;
  return operation == Atomic::kAdd ? nearest_half<Format>(double{x} + y) : nearest_half<Format>(r);
}

template <typename Format>
u32 packed_operation(Atomic operation, u32 a, u32 b) {
  const u32 low = half_operation<Format>(operation, static_cast<u16>(a), static_cast<u16>(b));
  const u32 high =
      half_operation<Format>(operation, static_cast<u16>(a >> 16), static_cast<u16>(b >> 16));
  return low | high << 16;
}

template <typename F, typename Bits>
Bits float_operation(Atomic operation, Bits a, Bits b) {
  const F x = std::bit_cast<F>(a), y = std::bit_cast<F>(b);
  switch (operation) {
    case Atomic::kMin:
      return std::bit_cast<Bits>(FMin::run(x, y));
    case Atomic::kMax:
      return std::bit_cast<Bits>(FMax::run(x, y));
    default:
      return std::bit_cast<Bits>(canonical(x + y));
  }
}

/// The new value at the address. T is the unsigned type of the width.
template <typename T>
T operate(Atomic operation, ScalarType type, T old, T b, T c) {
  using S = std::make_signed_t<T>;
  const bool is_signed = type == ScalarType::kS32 || type == ScalarType::kS64;
  switch (operation) {
    case Atomic::kExch:
      return b;
    case Atomic::kCas:
      return old == b ? c : old;
    case Atomic::kAnd:
      return old & b;
    case Atomic::kOr:
      return old | b;
    case Atomic::kXor:
      return old ^ b;
    case Atomic::kInc:
      return old >= b ? T{0} : static_cast<T>(old + 1);
    case Atomic::kDec:
      return old == 0 || old > b ? b : static_cast<T>(old - 1);
    default:
      break;
  }
  if constexpr (sizeof(T) == 2) {
    return type == ScalarType::kBf16 ? half_operation<Bfloat16Format>(operation, old, b)
                                     : half_operation<HalfFormat>(operation, old, b);
  } else {
    if constexpr (sizeof(T) == 4) {
      if (type == ScalarType::kF32) return float_operation<float>(operation, old, b);
      if (type == ScalarType::kF16x2) return packed_operation<HalfFormat>(operation, old, b);
      if (type == ScalarType::kBf16x2) return packed_operation<Bfloat16Format>(operation, old, b);
    } else {
      if (type == ScalarType::kF64) return float_operation<double>(operation, old, b);
    }
    switch (operation) {
      case Atomic::kMin:
        return is_signed ? (static_cast<S>(b) < static_cast<S>(old) ? b : old)
                         : (b < old ? b : old);
      case Atomic::kMax:
        return is_signed ? (static_cast<S>(b) > static_cast<S>(old) ? b : old)
                         : (b > old ? b : old);
      default:
        return static_cast<T>(old + b);
    }
  }
}

template <typename T>
T update(std::byte* place, bool parallel, Atomic operation, ScalarType type, T b, T c) {
  T* word = reinterpret_cast<T*>(place);
  if (!parallel) {
    const T old = *word;
    *word = operate(operation, type, old, b, c);
    return old;
  }
  std::atomic_ref<T> shared(*word);
  T old = shared.load();
  while (!shared.compare_exchange_weak(old, operate(operation, type, old, b, c))) {
  }
  return old;
}

}  // namespace membound::vgpu::exec::generic
