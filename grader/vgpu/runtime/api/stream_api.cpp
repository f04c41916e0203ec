// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams and events, and stream capture: from cudaStreamBeginCapture on, work becomes nodes of a
/// graph.
#include <algorithm>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;  // the range current GPUs report

template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Waits waits, Body body) {
  return api_call(waits, [&](Call call) -> cudaError_t {
    Stream* stream = call.stream(handle);
    return stream ? body(call, *stream) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t create(cudaStream_t* out, unsigned int flags, int priority) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || flags > 1) return cudaErrorInvalidValue;
    *out =
        call.context.streams.create(flags, std::clamp(priority, kGreatestPriority, kLeastPriority));
    return cudaSuccess;
  });
}

/// Asking costs the host a little time, so that a program that polls gets on.
cudaError_t query(Context& only, double ready_ns) {
  constexpr double kShare = 0.001;  // of what is left, so that polling a long kernel ends
  if (ready_ns <= only.clock.host_ns()) return cudaSuccess;
  only.clock.host_works(std::max(kQueryNs, (ready_ns - only.clock.host_ns()) * kShare));
  return cudaErrorNotReady;
}

constexpr unsigned int kKnownFlags = 0x7;
constexpr unsigned int kInterprocess = 0x4;

template <typename Body>
cudaError_t with_event(cudaEvent_t handle, Waits waits, Body body) {
  return api_call(waits, [&](Call call) -> cudaError_t {
    Event* event = call.context.streams.find_event(handle);
    return event ? body(call, *event) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream) {
  return with_event(event, Waits::kNo, [&](Call call, Event& e) {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    if (!target->capture) e.capture.reset();
    return submit(call.context, call.lock, *target, RecordOperation{event}).code;
  });
}

template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body body) {
  return with_stream(handle, Waits::kNo,
                     [&](Call call, Stream& stream) { return body(call.context, stream); });
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

CUDA_CALL cudaStreamCreate(cudaStream_t* out) { return create(out, 0, 0); }

CUDA_CALL cudaStreamCreateWithFlags(cudaStream_t* out, unsigned int flags) {
  return create(out, flags, 0);
}

CUDA_CALL cudaStreamCreateWithPriority(cudaStream_t* out, unsigned int flags, int priority) {
  return create(out, flags, priority);
}

CUDA_CALL cudaStreamDestroy(cudaStream_t stream) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.context.streams.destroy(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUDA_STREAM_CALL(cudaStreamSynchronize, (cudaStream_t stream), (stream)) {
  return with_stream(stream, Waits::kYes, [&](Call call, Stream& s) {
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    wait_for(call.context, s);
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamQuery, (cudaStream_t stream), (stream)) {
  return with_stream(stream, Waits::kYes, [&](Call call, Stream& s) {
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    const cudaError_t code = query(call.context, call.context.streams.earliest_ns(s));
    if (code == cudaSuccess) call.context.stream_races.host_learns(call.context.streams.past_of(s));
    return code;
  });
}

CUDA_STREAM_CALL(cudaStreamWaitEvent,
                 (cudaStream_t stream, cudaEvent_t event, [[maybe_unused]] unsigned int flags),
                 (stream, event, flags)) {
  return with_stream(stream, Waits::kNo, [&](Call call, Stream& s) {
    if (call.context.streams.find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
    return submit(call.context, call.lock, s, WaitOperation{event}).code;
  });
}

CUDA_STREAM_CALL(cudaStreamAddCallback,
                 (cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                  [[maybe_unused]] unsigned int flags),
                 (stream, callback, data, flags)) {
  return with_stream(stream, Waits::kNo, [&](Call call, Stream& s) {
    if (callback == nullptr) return cudaErrorInvalidValue;
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    return submit(call.context, call.lock, s, HostOperation{nullptr, data, callback, stream}).code;
  });
}

CUDA_STREAM_CALL(cudaStreamGetFlags, (cudaStream_t stream, unsigned int* flags), (stream, flags)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = s.flags;
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamGetPriority, (cudaStream_t stream, int* priority), (stream, priority)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = s.priority;
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamGetId, (cudaStream_t stream, unsigned long long* id), (stream, id)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = s.id;
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamGetDevice, (cudaStream_t stream, int* device), (stream, device)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamGetAttribute,
                 (cudaStream_t stream, cudaLaunchAttributeID attribute,
                  cudaLaunchAttributeValue* value),
                 (stream, attribute, value)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    if (attribute == cudaLaunchAttributePriority) value->priority = s.priority;
    return cudaSuccess;
  });
}

// Access-policy windows and the like steer caches in ways the cache model has no notion of.

CUDA_STREAM_CALL(cudaStreamSetAttribute,
                 (cudaStream_t stream, cudaLaunchAttributeID attribute,
                  const cudaLaunchAttributeValue* value),
                 (stream, attribute, value)) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributePriority) s.priority = value->priority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return api_call(Waits::kNo, [&](Call call) {
    Stream* target = call.stream(to);
    const Stream* source = call.stream(from);
    if (target == nullptr || source == nullptr) return cudaErrorInvalidResourceHandle;
    target->priority = source->priority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return cudaStreamCopyAttributes(per_thread(to), per_thread(from));
}

CUDA_CALL cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api_call(Waits::kNo, [&](Call) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaCtxResetPersistingL2Cache() {
  return api_call(Waits::kNo, [](Call) { return cudaSuccess; });
}

CUDA_CALL cudaDeviceSynchronize() {
  return api_call(Waits::kYes, [](Call call) {
    if (call.context.streams.any_capturing(cudaStreamCaptureModeGlobal))
      return cudaErrorStreamCaptureUnsupported;
    wait_for_all(call.context);
    return cudaSuccess;
  });
}

CUDA_CALL cudaEventCreateWithFlags(cudaEvent_t* out, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || (flags & ~kKnownFlags) != 0) return cudaErrorInvalidValue;
    if ((flags & kInterprocess) != 0) return cudaErrorNotSupported;
    *out = call.context.streams.create_event(flags);
    return cudaSuccess;
  });
}

CUDA_CALL cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, 0); }

CUDA_CALL cudaEventDestroy(cudaEvent_t event) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.context.streams.destroy_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUDA_STREAM_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream)) {
  return record(event, stream);
}

CUDA_STREAM_CALL(cudaEventRecordWithFlags,
                 (cudaEvent_t event, cudaStream_t stream, [[maybe_unused]] unsigned int flags),
                 (event, stream, flags)) {
  return record(event, stream);
}

CUDA_CALL cudaEventSynchronize(cudaEvent_t event) {
  return with_event(event, Waits::kYes, [](Call call, Event& e) {
    if (e.capture) return cudaErrorCapturedEvent;
    if (e.recorded) call.context.clock.host_waits_until(e.time_ns);
    call.context.stream_races.host_learns(e.past);
    call.context.services.flush_output();
    return cudaSuccess;
  });
}

CUDA_CALL cudaEventQuery(cudaEvent_t event) {
  return with_event(event, Waits::kYes, [](Call call, Event& e) {
    if (e.capture) return cudaErrorCapturedEvent;
    const cudaError_t code = query(call.context, e.recorded ? e.time_ns : 0);
    if (code == cudaSuccess) call.context.stream_races.host_learns(e.past);
    return code;
  });
}

CUDA_CALL cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return api_call(Waits::kYes, [&](Call call) {
    const Event* first = call.context.streams.find_event(start);
    const Event* second = call.context.streams.find_event(end);
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (first == nullptr || second == nullptr || !first->recorded || !second->recorded ||
        !first->has_timing() || !second->has_timing())
      return cudaErrorInvalidResourceHandle;
    const double now = call.context.clock.host_ns();
    if (first->time_ns > now || second->time_ns > now) return cudaErrorNotReady;
    call.context.stream_races.host_learns(first->past);
    call.context.stream_races.host_learns(second->past);
    *ms = static_cast<float>((second->time_ns - first->time_ns) * 1e-6);
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode),
                 (stream, mode)) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    return begin(only, s, std::make_shared<Graph>(), false, {}, mode);
  });
}

CUDA_STREAM_CALL(cudaStreamBeginCaptureToGraph,
                 (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                  [[maybe_unused]] const cudaGraphEdgeData* edges, std::size_t count,
                  cudaStreamCaptureMode mode),
                 (stream, graph, dependencies, edges, count, mode)) {
  return with_stream(stream, [&](Context& only, Stream& s) {
    auto target = only.graphs.find(graph);
    if (!target || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    return begin(only, s, target, true, {dependencies, dependencies + count}, mode);
  });
}

CUDA_STREAM_CALL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* out), (stream, out)) {
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

CUDA_STREAM_CALL(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* status),
                 (stream, status)) {
  return with_stream(stream, [&](Context&, Stream& s) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = s.capture ? s.capture->status : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

CUDA_STREAM_CALL(cudaStreamGetCaptureInfo,
                 (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                  cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                  const cudaGraphEdgeData** edges, std::size_t* count),
                 (stream, status, id, graph, dependencies, edges, count)) {
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

CUDA_STREAM_CALL(cudaStreamUpdateCaptureDependencies,
                 (cudaStream_t stream, cudaGraphNode_t* dependencies,
                  [[maybe_unused]] const cudaGraphEdgeData* edges, std::size_t count,
                  unsigned int flags),
                 (stream, dependencies, edges, count, flags)) {
  return with_stream(stream, [&](Context&, Stream& s) {
    constexpr unsigned int kReplace = 1;
    if (!s.capture) return cudaErrorIllegalState;
    if (flags > kReplace || (count > 0 && dependencies == nullptr)) return cudaErrorInvalidValue;
    if (flags == kReplace) s.capture_front.clear();
    s.capture_front.insert(s.capture_front.end(), dependencies, dependencies + count);
    return cudaSuccess;
  });
}

CUDA_CALL cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  static thread_local cudaStreamCaptureMode present = cudaStreamCaptureModeGlobal;
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
      *mode > cudaStreamCaptureModeRelaxed)
    return remember_error(cudaErrorInvalidValue);
  std::swap(*mode, present);
  return cudaSuccess;
}
