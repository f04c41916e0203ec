// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One consistent time for host and device: when each piece of work would start and end on the
/// machine being imitated. It moves only with API calls and predicted durations, never with the
/// wall clock, so every run of a program reads the same times. Place in the chain: timing's
/// durations -> [virtual_clock] -> streams, events. Left out: what a piece of work costs (timing),
/// which work must wait for which (streams).
#pragma once

#include <vector>

namespace membound::vgpu::runtime {

/// When something ran, in nanoseconds since the program's first CUDA call.
struct TimeSpan {
  double start_ns = 0;
  double end_ns = 0;
};

/// The part of the machine that moves data between host and device.
enum class CopyEngine { kHostToDevice, kDeviceToHost };

/// Host time, the SMs, and the copy engines. Kernels run beside each other as far as their blocks
/// fit; copies run beside kernels, one at a time in each direction.
class VirtualClock {
 public:
  [[nodiscard]] double host_ns() const { return host_ns_; }
  /// The host is busy for a while (a call's own cost).
  void host_works(double ns) { host_ns_ += ns; }
  /// The host waits until `ns`, if that is still ahead.
  void host_waits_until(double ns);

  /// A kernel that fills `share` (0 … 1] of the machine's block slots, not before `earliest_ns`:
  /// the first moment from which it finds room until its end.
  TimeSpan run_kernel(double earliest_ns, double duration_ns, double share);
  /// A copy between host and device.
  TimeSpan run_copy(CopyEngine engine, double earliest_ns, double duration_ns);

 private:
  struct Running {
    TimeSpan span;
    double share;
  };
  [[nodiscard]] bool has_room(TimeSpan span, double share) const;
  void forget_past();

  double host_ns_ = 0;
  double engine_free_ns_[2] = {0, 0};
  std::vector<Running> kernels_;
};

}  // namespace membound::vgpu::runtime
