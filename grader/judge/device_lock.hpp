// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A device of which there is one serves one graded run at a time: two would share its time, and a
/// runner that scrubs takes all of its memory. Place in the chain: queue, selftest ->
/// [device_lock]. Left out: which devices those are (check_device).
#pragma once

#include <filesystem>
#include <mutex>

namespace membound::judge {

/// Serves one at a time, among the threads of this process and among processes that use the same
/// file. std::lock_guard holds it.
class DeviceLock {
 public:
  /// As DeviceKind::lock_file(); without a file it lets everybody pass.
  explicit DeviceLock(const std::filesystem::path& file);
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  void lock();
  void unlock();

 private:
  bool excludes_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

}  // namespace membound::judge
