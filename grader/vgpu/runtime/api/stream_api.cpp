// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Streams: making, waiting, asking. Capturing: capture_api.cpp.
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

CUDA_CALL cudaStreamSynchronize(cudaStream_t stream) {
  return with_stream(stream, Waits::kYes, [&](Call call, Stream& s) {
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    wait_for(call.context, s);
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(per_thread(stream));
}

CUDA_CALL cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, Waits::kYes, [&](Call call, Stream& s) {
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    const cudaError_t code = query(call.context, call.context.streams.earliest_ns(s));
    if (code == cudaSuccess) call.context.stream_races.host_learns(call.context.streams.past_of(s));
    return code;
  });
}

CUDA_CALL cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(per_thread(stream)); }

CUDA_CALL cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return with_stream(stream, Waits::kNo, [&](Call call, Stream& s) {
    if (call.context.streams.find_event(event) == nullptr) return cudaErrorInvalidResourceHandle;
    return submit(call.context, call.lock, s, WaitOperation{event}).code;
  });
}

CUDA_CALL cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(per_thread(stream), event, flags);
}

CUDA_CALL cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                unsigned int) {
  return with_stream(stream, Waits::kNo, [&](Call call, Stream& s) {
    if (callback == nullptr) return cudaErrorInvalidValue;
    if (s.capture) return cudaErrorStreamCaptureUnsupported;
    return submit(call.context, call.lock, s, HostOperation{nullptr, data, callback, stream}).code;
  });
}

CUDA_CALL cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                     unsigned int flags) {
  return cudaStreamAddCallback(per_thread(stream), callback, data, flags);
}

CUDA_CALL cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = s.flags;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return cudaStreamGetFlags(per_thread(stream), flags);
}

CUDA_CALL cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = s.priority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(per_thread(stream), priority);
}

CUDA_CALL cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = s.id;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(per_thread(stream), id);
}

CUDA_CALL cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream&) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(per_thread(stream), device);
}

CUDA_CALL cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                 cudaLaunchAttributeValue* value) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    if (attribute == cudaLaunchAttributePriority) value->priority = s.priority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                      cudaLaunchAttributeValue* value) {
  return cudaStreamGetAttribute(per_thread(stream), attribute, value);
}

// Access-policy windows and the like steer caches in ways the cache model has no notion of.

CUDA_CALL cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                 const cudaLaunchAttributeValue* value) {
  return with_stream(stream, Waits::kNo, [&](Call, Stream& s) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (attribute == cudaLaunchAttributePriority) s.priority = value->priority;
    return cudaSuccess;
  });
}

CUDA_CALL cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                      const cudaLaunchAttributeValue* value) {
  return cudaStreamSetAttribute(per_thread(stream), attribute, value);
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
