// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/virtual_clock.hpp"

#include <algorithm>

namespace membound::vgpu::runtime {
namespace {

// Shares are quotients of block counts: sums of them may miss 1 by rounding.
constexpr double kWhole = 1 + 1e-9;
constexpr std::ptrdiff_t kMostRemembered = 256;

}  // namespace

void VirtualClock::host_waits_until(double ns) { host_ns_ = std::max(host_ns_, ns); }

bool VirtualClock::has_room(TimeSpan span, double share) const {
  // Load only rises where a kernel starts: checking there and at our own start is enough.
  std::vector<double> moments{span.start_ns};
  for (const Running& other : kernels_)
    if (other.span.start_ns > span.start_ns && other.span.start_ns < span.end_ns)
      moments.push_back(other.span.start_ns);
  return std::all_of(moments.begin(), moments.end(), [&](double moment) {
    double load = share;
    for (const Running& other : kernels_)
      if (other.span.start_ns <= moment && moment < other.span.end_ns) load += other.share;
    return load <= kWhole;
  });
}

void VirtualClock::forget_past() {
  // Work is submitted in host order and never starts before the host submits it.
  std::erase_if(kernels_, [&](const Running& k) { return k.span.end_ns <= host_ns_; });
  // A program that never waits: the kernels far back no longer decide where the next one fits.
  if (std::ssize(kernels_) > kMostRemembered)
    kernels_.erase(kernels_.begin(), kernels_.begin() + kMostRemembered / 2);
}

TimeSpan VirtualClock::run_kernel(double earliest_ns, double duration_ns, double share) {
  forget_past();
  share = std::clamp(share, 1e-6, 1.0);
  std::vector<double> starts{earliest_ns};
  for (const Running& other : kernels_)
    if (other.span.end_ns > earliest_ns) starts.push_back(other.span.end_ns);
  std::sort(starts.begin(), starts.end());
  TimeSpan span;
  for (const double start : starts) {
    span = {start, start + duration_ns};
    if (has_room(span, share)) break;
  }
  kernels_.push_back({span, share});
  return span;
}

TimeSpan VirtualClock::run_copy(CopyEngine engine, double earliest_ns, double duration_ns) {
  double& free_ns = engine_free_ns_[static_cast<int>(engine)];
  const double start = std::max(earliest_ns, free_ns);
  free_ns = start + duration_ns;
  return {start, free_ns};
}

}  // namespace membound::vgpu::runtime
