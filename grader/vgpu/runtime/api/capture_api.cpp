// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stream capture: from cudaStreamBeginCapture on, work becomes nodes of a graph.
#include <algorithm>

#include "grader/vgpu/runtime/api/api.hpp"

namespace membound::vgpu::runtime {
namespace {

template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    Stream* stream = call.stream(handle);
    return stream ? body(call.context, *stream) : cudaErrorInvalidResourceHandle;
  });
}

std::uint64_t next_capture_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

cudaError_t begin(Context& only, Stream& stream, std::shared_ptr<Graph> graph, bool is_callers,
                  std::vector<GraphNode*> front, cudaStreamCaptureMode mode) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  if (stream.capture) return cudaErrorIllegalState;
  // The legacy default stream waits for everything, which no graph can say.
  if (only.streams.is_legacy(stream)) return cudaErrorStreamCaptureUnsupported;
  stream.capture = std::make_shared<Capture>();
  stream.capture->graph = std::move(graph);
  stream.capture->graph_is_callers = is_callers;
  stream.capture->id = next_capture_id();
  stream.capture->mode = mode;
  stream.capture_front = std::move(front);
  stream.began_capture = true;
  return cudaSuccess;
}

/// All forked work must have been joined again: every leaf of the graph is what the first stream
/// would continue from.
bool is_joined(const Stream& stream) {
  const auto leaves = stream.capture->graph->leaves();
  return std::all_of(leaves.begin(), leaves.end(), [&](GraphNode* leaf) {
    return std::find(stream.capture_front.begin(), stream.capture_front.end(), leaf) !=
           stream.capture_front.end();
  });
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    return begin(only, s, std::make_shared<Graph>(), false, {}, mode);
  });
}

CUDA_CALL cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(per_thread(stream), mode);
}

CUDA_CALL cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData*, std::size_t count,
                                        cudaStreamCaptureMode mode) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    auto target = only.graphs.find(graph);
    if (!target || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    return begin(only, s, target, true, {dependencies, dependencies + count}, mode);
  });
}

CUDA_CALL cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies,
                                             const cudaGraphEdgeData* edges, std::size_t count,
                                             cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, dependencies, edges, count, mode);
}

CUDA_CALL cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = nullptr;
    if (!s.capture) return cudaErrorIllegalState;
    if (!s.began_capture) return cudaErrorStreamCaptureUnmatched;
    const std::shared_ptr<Capture> capture = s.capture;
    const bool joined = is_joined(s);
    only.streams.end_capture(*capture);
    if (!joined) return cudaErrorStreamCaptureUnjoined;
    *out = only.graphs.handle_of(capture->graph.get());
    if (*out == nullptr) *out = only.graphs.add(capture->graph);
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* out) {
  return cudaStreamEndCapture(per_thread(stream), out);
}

CUDA_CALL cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_stream(stream, [&](Context&, Stream& s) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = s.capture ? s.capture->status : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

CUDA_CALL cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                   unsigned long long* id, cudaGraph_t* graph,
                                   const cudaGraphNode_t** dependencies,
                                   const cudaGraphEdgeData** edges, std::size_t* count) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = s.capture ? s.capture->status : cudaStreamCaptureStatusNone;
    if (!s.capture) return cudaSuccess;
    if (id != nullptr) *id = s.capture->id;
    if (graph != nullptr) {
      *graph = only.graphs.handle_of(s.capture->graph.get());
      if (*graph == nullptr) *graph = only.graphs.add(s.capture->graph);
    }
    // Handles are the nodes themselves; the list lives until this thread asks again.
    static thread_local std::vector<cudaGraphNode_t> front;
    front.clear();
    for (GraphNode* node : s.capture_front) front.push_back(static_cast<CUgraphNode_st*>(node));
    if (dependencies != nullptr) *dependencies = front.data();
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = front.size();
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id, cudaGraph_t* graph,
                                        const cudaGraphNode_t** dependencies,
                                        const cudaGraphEdgeData** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, dependencies, edges,
                                  count);
}

CUDA_CALL cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                              const cudaGraphEdgeData*, std::size_t count,
                                              unsigned int flags) {
  return with_stream(stream, [&](Context&, Stream& s) {
    constexpr unsigned int kReplace = 1;
    if (!s.capture) return cudaErrorIllegalState;
    if (flags > kReplace || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    if (flags == kReplace) s.capture_front.clear();
    s.capture_front.insert(s.capture_front.end(), dependencies, dependencies + count);
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                   cudaGraphNode_t* dependencies,
                                                   const cudaGraphEdgeData* edges,
                                                   std::size_t count, unsigned int flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), dependencies, edges, count, flags);
}

CUDA_CALL cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode present = cudaStreamCaptureModeGlobal;
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
      *mode > cudaStreamCaptureModeRelaxed)
    return remember_error(cudaErrorInvalidValue);
  std::swap(*mode, present);
  return cudaSuccess;
}
