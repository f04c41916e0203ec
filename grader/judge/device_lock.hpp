// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A GPU serves one graded run at a time: two would share its time, and a runner that scrubs takes
/// all of its memory. After the last of them what submissions may have left in that is overwritten.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <vector>

#include "grader/judge/check_device.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// Serves one at a time, among the threads of this process and among processes that use the same
/// file. std::lock_guard holds it.
class DeviceLock {
 public:
  /// As Device::lock_file; without a file it lets everybody pass.
  explicit DeviceLock(const std::filesystem::path& file);
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  void lock();
  /// False where somebody else holds it.
  [[nodiscard]] bool try_lock();
  void unlock();

 private:
  bool excludes_;
  std::mutex mutex_;
  int descriptor_ = -1;
};

/// Several devices of one kind, any of which will do: as many graded runs at a time.
class DevicePool {
 public:
  /// At least one. If one excludes nobody, everybody gets that one.
  explicit DevicePool(const std::vector<Device>& devices);

  /// Waits for one that nobody uses, here or in another process.
  [[nodiscard]] const Device& take();
  /// From the thread that took it.
  void give_back(const Device& device);

 private:
  const std::vector<Device>& devices_;
  std::deque<DeviceLock> locks_;  // of the device with the same number
  std::mutex mutex_;
  std::condition_variable given_back_;
};

/// Overwrites the free memory of those of `devices` that are GPUs. One that somebody else uses by
/// now is left to them. Nobody hears of one that fails: drivers clear memory, too, though none
/// promises it.
void wipe_devices(const Workplace& place, const std::vector<Device>& devices);

}  // namespace membound::judge
