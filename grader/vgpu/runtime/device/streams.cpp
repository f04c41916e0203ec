// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/streams.hpp"

#include <algorithm>
#include <utility>

namespace membound::vgpu::runtime {
namespace {

// Shares are quotients of block counts: sums of them may miss 1 by rounding.
constexpr double kWhole = 1 + 1e-9;
constexpr std::ptrdiff_t kMostRemembered = 256;

// The runtime's special handles: cudaStreamLegacy and cudaStreamPerThread.
constexpr std::uintptr_t kLegacyHandle = 1;
constexpr std::uintptr_t kPerThreadHandle = 2;

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

StreamTable::StreamTable() { legacy_.id = next_id_++; }

template <typename Visit>
void StreamTable::for_each(Visit visit) const {
  visit(static_cast<const Stream&>(legacy_));
  for (const auto& [thread, stream] : per_thread_) visit(static_cast<const Stream&>(*stream));
  for (const auto& [handle, stream] : streams_) visit(static_cast<const Stream&>(*stream));
}

template <typename Visit>
void StreamTable::for_each(Visit visit) {
  std::as_const(*this).for_each(
      [&](const Stream& stream) { visit(const_cast<Stream&>(stream)); });  // they are ours
}

Stream* StreamTable::find(cudaStream_t handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value == 0 || value == kLegacyHandle) return &legacy_;
  if (value == kPerThreadHandle) {
    auto& stream = per_thread_[std::this_thread::get_id()];
    if (!stream) {
      stream = std::make_unique<CUstream_st>();
      stream->id = next_id_++;
    }
    return stream.get();
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

Event* StreamTable::find_event(cudaEvent_t handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

cudaStream_t StreamTable::create(unsigned int flags, int priority) {
  auto stream = std::make_unique<CUstream_st>();
  stream->id = next_id_++;
  stream->flags = flags;
  stream->priority = priority;
  const cudaStream_t handle = stream.get();
  streams_.emplace(handle, std::move(stream));
  return handle;
}

bool StreamTable::destroy(cudaStream_t handle) { return streams_.erase(handle) > 0; }

cudaEvent_t StreamTable::create_event(unsigned int flags) {
  auto event = std::make_unique<CUevent_st>();
  event->flags = flags;
  const cudaEvent_t handle = event.get();
  events_.emplace(handle, std::move(event));
  return handle;
}

bool StreamTable::destroy_event(cudaEvent_t handle) { return events_.erase(handle) > 0; }

double StreamTable::earliest_ns(const Stream& stream) const {
  double earliest = stream.timeline.ready_ns;
  if (is_legacy(stream)) {
    for_each([&](const Stream& other) {
      if (other.is_blocking()) earliest = std::max(earliest, other.timeline.ready_ns);
    });
  } else if (stream.is_blocking()) {
    earliest = std::max(earliest, legacy_.timeline.ready_ns);
  }
  return earliest;
}

Past StreamTable::past_of(const Stream& stream) const {
  Past past = stream.past;
  if (is_legacy(stream)) {
    for_each([&](const Stream& other) {
      if (other.is_blocking()) past.learn(other.past);
    });
  } else if (stream.is_blocking()) {
    past.learn(legacy_.past);
  }
  return past;
}

double StreamTable::all_done_ns() const {
  double latest = 0;
  for_each([&](const Stream& stream) { latest = std::max(latest, stream.timeline.ready_ns); });
  return latest;
}

bool StreamTable::any_capturing(cudaStreamCaptureMode mode) const {
  bool found = false;
  for_each([&](const Stream& stream) {
    found = found || (stream.capture && stream.capture->mode == mode);
  });
  return found;
}

void StreamTable::end_capture(const Capture& capture) {
  for_each([&](Stream& stream) {
    if (stream.capture.get() != &capture) return;
    stream.capture.reset();
    stream.capture_front.clear();
    stream.began_capture = false;
  });
  // Whoever waits for such an event now waits for nothing, and joins no capture that is over.
  for (auto& [handle, event] : events_) {
    if (event->capture.get() != &capture) continue;
    event->capture.reset();
    event->captured_front.clear();
  }
}

void StreamTable::reset() {
  streams_.clear();
  events_.clear();
  per_thread_.clear();
  legacy_.capture.reset();
}

}  // namespace membound::vgpu::runtime
