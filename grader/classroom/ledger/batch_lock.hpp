// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One grader at a time for one batch, and the knowledge whether the last one ended by itself.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"

namespace membound::ledger {

/// Holds OUT/lock until it goes away. Its content says whether the holder ended by itself; it is
/// overwritten in place, which a full disk does not prevent.
class BatchLock {
 public:
  /// Fails at once where another process holds it, and names that process.
  [[nodiscard]] static base::Result<BatchLock> take(const std::filesystem::path& out);
  BatchLock(BatchLock&& other) noexcept;
  BatchLock& operator=(BatchLock&&) = delete;
  /// Writes that this process ended by itself.
  ~BatchLock();

  /// The process that held it before was killed, or the machine died with it.
  [[nodiscard]] bool last_one_died() const { return last_one_died_; }

 private:
  BatchLock(int descriptor, bool died) : descriptor_(descriptor), last_one_died_(died) {}

  int descriptor_;
  bool last_one_died_;
};

}  // namespace membound::ledger
