// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which device the calls that follow mean. A student's check has one device, and nothing here ever
/// calls CUDA then; a graded run has the reference's device and the student's, each in a runner of
/// its own (grader/sandbox/runner).
/// Place in the chain: session, timed_run, device buffers -> [device_scope] -> CUDA runtime.
#pragma once

namespace membound::harness {

/// Makes a device current, and the one before it again at the end of the scope. Main thread only.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  [[nodiscard]] static int current();

 private:
  int before_;
};

}  // namespace membound::harness
