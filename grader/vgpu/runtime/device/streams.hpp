// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams and events as places in virtual time, and the virtual clock that gives host and device
/// one consistent time: when each operation would start and end on the machine being imitated. It
/// moves only with API calls and predicted durations, never with the wall clock, so every run of a
/// program reads the same times. Kernels and copies take effect in the order the host submits them,
/// which respects every order streams can ask for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

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

/// What has surely ended before something begins: of each stream so many of its operations, which
/// end one after the other. By what streams, events and the host ask for, never by when things
/// happened to run.
class Past {
 public:
  void learn(const Past& other) {
    for (const auto& [stream, operations] : other.ended_) learn(stream, operations);
  }
  /// The first `operations` of the stream with this id.
  void learn(std::uint64_t stream, std::uint64_t operations) {
    std::uint64_t& known = ended_[stream];
    known = std::max(known, operations);
  }
  [[nodiscard]] std::uint64_t ended_of(std::uint64_t stream) const {
    const auto found = ended_.find(stream);
    return found == ended_.end() ? 0 : found->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ended_;
};

struct Graph;
struct GraphNode;

/// Where a queue of work has come to. A graph's branches have one each.
struct Timeline {
  double ready_ns = 0;        ///< everything submitted so far is done by then
  bool after_kernel = false;  ///< the latest operation was a kernel: the next starts up beside it
};

/// A capture under way: work becomes nodes instead of being done.
struct Capture {
  std::shared_ptr<Graph> graph;
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  bool graph_is_callers = false;  ///< cudaStreamBeginCaptureToGraph
  std::uint64_t joined_streams = 1;
};

/// A stream.
struct Stream {
  std::uint64_t id = 0;
  unsigned int flags = 0;
  int priority = 0;
  Timeline timeline;
  Past past;                              ///< what has ended before its next work begins
  std::uint64_t traced_operations = 0;    ///< see stream_races.hpp
  std::shared_ptr<Capture> capture;       ///< null when not capturing
  std::vector<GraphNode*> capture_front;  ///< what the next captured node depends on
  bool began_capture = false;             ///< it is this stream that must end it

  [[nodiscard]] bool is_blocking() const { return (flags & 1) == 0; }
};

/// An event.
struct Event {
  unsigned int flags = 0;
  bool recorded = false;
  double time_ns = 0;
  Past past;                         ///< what has ended when it has
  std::shared_ptr<Capture> capture;  ///< recorded in a capturing stream
  std::vector<GraphNode*> captured_front;

  [[nodiscard]] bool has_timing() const { return (flags & 2) == 0; }
};

}  // namespace membound::vgpu::runtime

/// What the handles point to; handles are always made as these.
struct CUstream_st final : membound::vgpu::runtime::Stream {};
struct CUevent_st final : membound::vgpu::runtime::Event {};

namespace membound::vgpu::runtime {

/// All streams and events of the process.
class StreamTable {
 public:
  StreamTable();

  /// The stream behind a handle, the default ones included; null for a handle nobody made.
  [[nodiscard]] Stream* find(cudaStream_t handle);
  [[nodiscard]] Event* find_event(cudaEvent_t handle);

  cudaStream_t create(unsigned int flags, int priority);
  bool destroy(cudaStream_t handle);
  cudaEvent_t create_event(unsigned int flags);
  bool destroy_event(cudaEvent_t handle);

  /// The legacy default stream waits for all blocking streams and they for it; the moment before
  /// which new work of `stream` may not start by that rule and its own order.
  [[nodiscard]] double earliest_ns(const Stream& stream) const;
  /// The same as a set of work instead of a moment.
  [[nodiscard]] Past past_of(const Stream& stream) const;
  /// Whether there are streams beside the legacy default one.
  [[nodiscard]] bool has_several() const { return !streams_.empty() || !per_thread_.empty(); }
  /// When everything submitted anywhere is done.
  [[nodiscard]] double all_done_ns() const;
  [[nodiscard]] bool any_capturing(cudaStreamCaptureMode mode) const;
  [[nodiscard]] Stream& legacy() { return legacy_; }
  [[nodiscard]] bool is_legacy(const Stream& stream) const { return &stream == &legacy_; }
  /// Every stream that takes part in a capture works again.
  void end_capture(const Capture& capture);
  /// Forgets every stream and event but the default ones.
  void reset();

 private:
  template <typename Visit>
  void for_each(Visit visit) const;
  template <typename Visit>
  void for_each(Visit visit);

  std::uint64_t next_id_ = 1;
  CUstream_st legacy_;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> per_thread_;
  std::map<cudaStream_t, std::unique_ptr<CUstream_st>> streams_;
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events_;
};

}  // namespace membound::vgpu::runtime
