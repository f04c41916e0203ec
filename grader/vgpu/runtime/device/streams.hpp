// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams and events as places in virtual time: which work must wait for which.
/// Place in the chain: the stream and event API -> [streams] -> virtual clock.
/// Left out: the work itself. Kernels and copies take effect in the order the host submits them,
/// which respects every order streams can ask for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/runtime/device/past.hpp"
#include "grader/vgpu/runtime/device/virtual_clock.hpp"

namespace membound::vgpu::runtime {

struct Graph;
struct GraphNode;

/// Where a queue of work has come to. A graph's branches have one each.
struct Timeline {
  double ready_ns = 0;  ///< everything submitted so far is done by then
  bool after_kernel =
      false;  ///< the latest piece of work was a kernel: the next starts up beside it
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
  std::uint64_t traced_pieces = 0;        ///< of its work; see stream_races.hpp
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
