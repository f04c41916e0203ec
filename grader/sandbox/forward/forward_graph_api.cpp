// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Graphs by stream capture: captured, made ready and launched in the runner. A node is work on the
/// device; copies between host and device cannot be captured, because a graph's memory is the
/// runner's.
#include "grader/sandbox/forward/devices.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

/// What a cudaGraph_t and a cudaGraphExec_t point to.
struct ForwardGraph {
  int device;
  std::uint32_t number;
};

ForwardGraph* graph_of(cudaGraph_t handle) { return reinterpret_cast<ForwardGraph*>(handle); }
ForwardGraph* graph_of(cudaGraphExec_t handle) { return reinterpret_cast<ForwardGraph*>(handle); }

/// Calls `body` with the runner and the number of a stream that is not cudaStreamPerThread.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body body) {
  std::uint32_t number = 0;
  if (!stream_number(handle, number)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) { return body(runner, number); });
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long flags) {
  if (out == nullptr || graph == nullptr) return remember(cudaErrorInvalidValue);
  if (flags != 0) return remember(cudaErrorNotSupported);
  return with_runner(graph_of(graph)->device, [&](Connection& runner) {
    GraphAnswer answer;
    const std::int32_t code = runner.call(InstantiateGraph{graph_of(graph)->number}, &answer);
    if (code == 0)
      *out = reinterpret_cast<cudaGraphExec_t>(
          new ForwardGraph{graph_of(graph)->device, answer.graph});
    return code;
  });
}

}  // namespace

FORWARD_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_stream(stream, [&](Connection& runner, std::uint32_t in) {
    return runner.call(BeginCapture{in, static_cast<std::int32_t>(mode)});
  });
}

FORWARD_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  if (out == nullptr) return remember(cudaErrorInvalidValue);
  *out = nullptr;
  return with_stream(stream, [&](Connection& runner, std::uint32_t in) {
    GraphAnswer answer;
    const std::int32_t code = runner.call(EndCapture{in}, &answer);
    if (code == 0)
      *out = reinterpret_cast<cudaGraph_t>(new ForwardGraph{current_device(), answer.graph});
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                 cudaStreamCaptureStatus* status) {
  if (status == nullptr) return remember(cudaErrorInvalidValue);
  return with_stream(stream, [&](Connection& runner, std::uint32_t in) {
    NumberAnswer answer;
    const std::int32_t code = runner.call(AskCapture{in}, &answer);
    *status = static_cast<cudaStreamCaptureStatus>(answer.number);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph,
                                                unsigned long long flags) {
  return instantiate(out, graph, flags);
}

FORWARD_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph,
                                                         unsigned long long flags) {
  return instantiate(out, graph, flags);
}

FORWARD_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (graph == nullptr) return remember(cudaErrorInvalidValue);
  return with_stream(stream, [&](Connection& runner, std::uint32_t in) {
    return runner.call(LaunchGraph{graph_of(graph)->number, in});
  });
}

FORWARD_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  if (handle == nullptr) return remember(cudaErrorInvalidValue);
  const std::unique_ptr<ForwardGraph> graph(graph_of(handle));
  return with_runner(graph->device,
                     [&](Connection& runner) { return runner.call(DestroyGraph{graph->number}); });
}

FORWARD_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  if (handle == nullptr) return remember(cudaErrorInvalidValue);
  const std::unique_ptr<ForwardGraph> graph(graph_of(handle));
  return with_runner(graph->device, [&](Connection& runner) {
    return runner.call(DestroyExecutable{graph->number});
  });
}
