// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Events: moments on the virtual clock.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

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

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

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

CUDA_CALL cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record(event, stream); }

CUDA_CALL cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return record(event, per_thread(stream));
}

CUDA_CALL cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return record(event, stream);
}

CUDA_CALL cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return record(event, per_thread(stream));
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
    const double left = e.recorded ? e.time_ns - call.context.clock.host_ns() : 0;
    if (left <= 0) {
      call.context.stream_races.host_learns(e.past);
      return cudaSuccess;
    }
    constexpr double kShare = 0.001;  // of what is left, so that polling a long kernel ends
    call.context.clock.host_works(std::max(kQueryNs, left * kShare));
    return cudaErrorNotReady;
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
