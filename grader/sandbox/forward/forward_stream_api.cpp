// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams, events, and graphs by stream capture. Wherever the host learns that work is done,
/// copies into its pinned memory arrive (runtime_state.hpp). A graph is captured, made ready and
/// launched in the runner; copies between host and device cannot be captured, because its memory is
/// the runner's.
#include "grader/sandbox/forward/runtime_state.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

ForwardEvent* event_of(cudaEvent_t handle) { return reinterpret_cast<ForwardEvent*>(handle); }
ForwardStream* stream_of(cudaStream_t handle) { return reinterpret_cast<ForwardStream*>(handle); }

/// A question whose answer may be "not yet", which is no error to remember.
template <typename Question>
cudaError_t asked(int device, const Question& question) {
  Connection* runner = connection(device);
  if (runner == nullptr) return remember(kDisconnected);
  const std::int32_t code = delivered(*runner, runner->call(question));
  return code == cudaErrorNotReady ? cudaErrorNotReady : remember(code);
}

}  // namespace

namespace membound::forward {

bool stream_number(cudaStream_t handle, std::uint32_t& out) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  constexpr std::uintptr_t kLegacy = 1, kPerThread = 2;
  out = 0;
  if (value == 0 || value == kLegacy) return true;
  if (value == kPerThread) return false;
  out = stream_of(handle)->number;
  return true;
}

}  // namespace membound::forward

FORWARD_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                                        int priority) {
  if (stream == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner([&](Connection& runner) {
    StreamAnswer answer;
    const std::int32_t code = runner.call(CreateStream{flags, priority}, &answer);
    if (code == 0)
      *stream = reinterpret_cast<cudaStream_t>(new ForwardStream{current_device(), answer.stream});
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

FORWARD_EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

FORWARD_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  std::uint32_t number = 0;
  if (!stream_number(handle, number) || number == 0)
    return remember(cudaErrorInvalidResourceHandle);
  const std::unique_ptr<ForwardStream> stream(stream_of(handle));
  return with_runner(stream->device,
                     [&](Connection& runner) { return runner.call(DestroyStream{number}); });
}

FORWARD_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  std::uint32_t number = 0;
  if (!stream_number(handle, number)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner(
      [&](Connection& runner) { return delivered(runner, runner.call(WaitForStream{number})); });
}

FORWARD_EXPORT cudaError_t cudaStreamQuery(cudaStream_t handle) {
  std::uint32_t number = 0;
  if (!stream_number(handle, number)) return remember(cudaErrorInvalidResourceHandle);
  return asked(current_device(), AskStream{number});
}

FORWARD_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                               unsigned int) {
  std::uint32_t number = 0;
  if (event == nullptr || !stream_number(handle, number))
    return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    return runner.call(StreamWaitsForEvent{number, event_of(event)->number});
  });
}

FORWARD_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  if (event == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner([&](Connection& runner) {
    EventAnswer answer;
    const std::int32_t code = runner.call(CreateEvent{flags}, &answer);
    if (code == 0)
      *event = reinterpret_cast<cudaEvent_t>(new ForwardEvent{current_device(), answer.event});
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}

FORWARD_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  if (handle == nullptr) return remember(cudaErrorInvalidResourceHandle);
  const std::unique_ptr<ForwardEvent> event(event_of(handle));
  return with_runner(event->device,
                     [&](Connection& runner) { return runner.call(DestroyEvent{event->number}); });
}

FORWARD_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (event == nullptr || !stream_number(stream, in))
    return remember(cudaErrorInvalidResourceHandle);
  return with_runner(event_of(event)->device, [&](Connection& runner) {
    return runner.call(RecordEvent{event_of(event)->number, in});
  });
}

FORWARD_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event == nullptr) return remember(cudaErrorInvalidResourceHandle);
  return with_runner(event_of(event)->device, [&](Connection& runner) {
    return delivered(runner, runner.call(WaitForEvent{event_of(event)->number}));
  });
}

FORWARD_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event == nullptr) return remember(cudaErrorInvalidResourceHandle);
  return asked(event_of(event)->device, AskEvent{event_of(event)->number});
}

FORWARD_EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                                cudaEvent_t stop) {
  if (milliseconds == nullptr || start == nullptr || stop == nullptr)
    return remember(cudaErrorInvalidValue);
  if (event_of(start)->device != event_of(stop)->device)
    return remember(cudaErrorInvalidResourceHandle);
  return with_runner(event_of(start)->device, [&](Connection& runner) {
    ElapsedAnswer answer;
    const std::int32_t code =
        runner.call(AskElapsed{event_of(start)->number, event_of(stop)->number}, &answer);
    *milliseconds = answer.milliseconds;
    return code;
  });
}

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
