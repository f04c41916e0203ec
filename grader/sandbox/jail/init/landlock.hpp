// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Landlock for the init: the second line behind the mount namespace, by raw system calls because
/// the C library has no names for them. A kernel without it, or with an older version, gets what it
/// can do.
/// Source: Linux uapi/linux/landlock.h, ABI 1 to 6; older headers know only the first constants.
#pragma once

#include <cstddef>
#include <cstdint>

namespace membound::jail {

/// The version the kernel offers, 0 when it has none.
[[nodiscard]] int landlock_abi();

/// What a path may be used for.
enum class PathUse { kRead, kScratch, kDevice };

/// A rule set that is built up and then applied to the calling process for good.
class Landlock {
 public:
  /// Without effect when `abi` is 0.
  explicit Landlock(int abi);
  /// False when the kernel refuses the rule; a path that is not there needs none.
  bool allow(const char* path, PathUse use) const;
  /// From here on the process, and all it starts, is held to the rules.
  [[nodiscard]] bool enforce() const;

 private:
  int abi_;
  int rules_ = -1;
};

}  // namespace membound::jail
