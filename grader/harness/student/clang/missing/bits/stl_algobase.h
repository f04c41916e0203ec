// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What kernels call of this header, which is GCC's library's: from LLVM's library where that is,
/// else our own. constexpr functions are clang's for both sides.
#pragma once

#if __has_include(<__algorithm/min.h>)
#include <__algorithm/max.h>
#include <__algorithm/min.h>
#include <__utility/swap.h>
#else
namespace std {
template <typename T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}
}  // namespace std
#endif
