// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A real GPU serves one graded run at a time: two would share its time, and a runner that scrubs
/// takes all of its memory. Place in the chain: grading, selftest -> [real_device]. Left out: the
/// virtual GPU, which every process has for itself.
#pragma once

#include <mutex>
#include <string>

namespace membound::judge {

/// Serves one at a time, among the threads of this process and among processes that use the same
/// folder for temporary files. std::lock_guard holds it.
class RealDevice {
 public:
  /// `name` as in Settings::device: "gpu".
  explicit RealDevice(const std::string& name);
  ~RealDevice();
  RealDevice(const RealDevice&) = delete;
  RealDevice& operator=(const RealDevice&) = delete;

  void lock();
  void unlock();

 private:
  std::mutex mutex_;
  int descriptor_ = -1;
};

}  // namespace membound::judge
