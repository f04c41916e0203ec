// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What lets a program that Debian 12 built start with glibc 2.34 and the libstdc++ of GCC 11,
/// which RHEL 9 and its rebuilds have. The loader refuses a program that asks for a newer version
/// of a symbol. Three functions got such a version: they are replaced here.
/// grader/tests/install/older_systems.sh finds a fourth.
#pragma once

#include <pthread.h>

#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>

namespace membound::base {

/// std::condition_variable::wait, whose symbol has been GLIBCXX_3.4.30 since GCC 12 made it
/// noexcept. This is what the library does inside it.
inline void wait(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(condition.native_handle(), lock.mutex()->native_handle());
}

/// The same until `is_true()`, which is called under the lock.
template <class Predicate>
void wait(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
          Predicate is_true) {
  while (!is_true()) wait(condition, lock);
}

// std::hypot, whose symbols have been GLIBC_2.35 since they no longer set errno.

/// √(x² + y²) of floats, to the bit as glibc 2.36 has it (2 · 10⁸ drawn pairs). A double holds both
/// squares exactly, so a fused multiply-add changes nothing, and their sum does not overflow.
inline float hypotenuse(float x, float y) {
  if (std::isinf(x) || std::isinf(y)) return std::numeric_limits<float>::infinity();
  const double across = x, down = y;
  return static_cast<float>(std::sqrt(across * across + down * down));
}

/// √(x² + y²) for lengths and times whose squares a double holds: it may overflow where std::hypot
/// does not.
inline double hypotenuse(double x, double y) { return std::sqrt(x * x + y * y); }

}  // namespace membound::base
