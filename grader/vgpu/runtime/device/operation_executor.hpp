// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does device work: at once, in the order the host submits it, while its time appears on the
/// virtual clock. A capturing stream gets a graph node instead.
#pragma once

#include <functional>
#include <vector>

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"

namespace membound::vgpu::runtime {

/// A host function whose turn has come. It is called without the context's lock.
using HostCalls = std::vector<HostOperation>;

/// What happened to an operation.
struct Submitted {
  cudaError_t code = cudaSuccess;
  bool captured = false;  ///< it became a graph node
};

/// Hands one operation to a stream. Host functions that are due are called before it returns, with
/// `lock` released meanwhile.
Submitted submit(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                 Operation operation);

/// As submit(), for a call that returns only when its work is done.
cudaError_t submit_and_wait(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                            Operation operation);

/// Runs every node of an instantiated graph, each as soon as what it depends on is done.
cudaError_t launch_graph(Context& context, std::unique_lock<std::mutex>& lock, Stream& stream,
                         ExecutableGraph& graph);

/// The host waits for what was submitted to the stream, and for what that waits for; it shows what
/// kernels printed.
void wait_for(Context& context, const Stream& stream);

/// The host waits for everything, and shows what kernels printed.
void wait_for_all(Context& context);

/// What one call costs the host, nanoseconds: to submit work, and to ask for something.
/// Recalled orders of magnitude; only differences of events are ever compared with hardware.
inline constexpr double kSubmitNs = 1500;
inline constexpr double kQueryNs = 300;

}  // namespace membound::vgpu::runtime
