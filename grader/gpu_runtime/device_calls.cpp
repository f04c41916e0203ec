// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Devices, errors, memory, copies, events, streams and graphs: each call is one of the driver's.
/// An operation on no bytes is none, as with NVIDIA's runtime.
#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "grader/gpu_runtime/gpu_runtime.hpp"

namespace membound::gpu_runtime {
namespace {

/// The version of the interface, CUDA 13.0's.
constexpr int kInterface = 13000;
constexpr int kMostDevices = 64;

thread_local int thread_device = 0;
thread_local int entered_device = -1;  ///< whose context is the thread's

struct Started {
  cuda_api::Functions functions;
  int code = cudaErrorInsufficientDriver;
};

Started start() {
  Started started;
  void* const library = cuda_api::open_library("libcuda.so.1");
  if (library == nullptr) return started;
  if (const char* const missing = started.functions.load(library); missing != nullptr) {
    std::fprintf(stderr, "membound: the driver has no %s; driver 525 or newer has\n", missing);
    return started;
  }
  started.code = started.functions.cuInit(0);
  return started;
}

int retain(const cuda_api::Functions& driver, int device, cuda_api::Context& context) {
  static std::mutex mutex;
  static std::array<cuda_api::Context, kMostDevices> kept{};
  if (device >= kMostDevices) return cudaErrorInvalidDevice;
  const std::lock_guard lock(mutex);
  if (kept[static_cast<std::size_t>(device)] == nullptr) {
    const int code =
        driver.cuDevicePrimaryCtxRetain(&kept[static_cast<std::size_t>(device)], device);
    if (code != cudaSuccess) return code;
  }
  context = kept[static_cast<std::size_t>(device)];
  return cudaSuccess;
}

}  // namespace

const cuda_api::Functions* started_driver(int& code) {
  static const Started started = start();
  code = started.code;
  return code == cudaSuccess ? &started.functions : nullptr;
}

int enter_context(const cuda_api::Functions& driver) {
  if (entered_device == thread_device) return cudaSuccess;
  cuda_api::Context context = nullptr;
  int code = retain(driver, thread_device, context);
  if (code == cudaSuccess) code = driver.cuCtxSetCurrent(context);
  if (code == cudaSuccess) entered_device = thread_device;
  return code;
}

}  // namespace membound::gpu_runtime

using namespace membound::gpu_runtime;  // NOLINT: the C interface below
using membound::cuda_api::Address;
using Driver = membound::cuda_api::Functions;

GPU_CALL cudaGetLastError() {
  const cudaError_t code = last_error;
  last_error = cudaSuccess;
  return code;
}

GPU_CALL cudaPeekAtLastError() { return last_error; }

GPU_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define CUDA_ERROR(name, number, text) \
  case name:                           \
    return #name;
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
  }
  return "unrecognized error code";
}

GPU_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define CUDA_ERROR(name, number, text) \
  case name:                           \
    return text;
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
  }
  return "unrecognized error code";
}

GPU_CALL cudaDriverGetVersion(int* version) {
  return with_driver([&](const Driver& driver) { return driver.cuDriverGetVersion(version); });
}

GPU_CALL cudaRuntimeGetVersion(int* version) {
  *version = kInterface;
  return cudaSuccess;
}

GPU_CALL cudaGetDeviceCount(int* count) {
  *count = 0;
  return with_driver([&](const Driver& driver) {
    const int code = driver.cuDeviceGetCount(count);
    return code == cudaSuccess && *count == 0 ? cudaErrorNoDevice : code;
  });
}

GPU_CALL cudaGetDevice(int* device) {
  *device = thread_device;
  return cudaSuccess;
}

GPU_CALL cudaSetDevice(int device) {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) return code;
  if (device < 0 || device >= count) return remember(cudaErrorInvalidDevice);
  thread_device = device;
  return in_context([](const Driver&) { return cudaSuccess; });
}

GPU_CALL cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return with_driver([&](const Driver& driver) {
    return driver.cuDeviceGetAttribute(value, static_cast<int>(attribute), device);
  });
}

GPU_CALL cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return with_driver([&](const Driver& driver) -> int {
    cudaDeviceProp& p = *properties = cudaDeviceProp{};
    int code = driver.cuDeviceGetName(p.name, sizeof p.name, device);
    if (code == cudaSuccess) code = driver.cuDeviceTotalMem_v2(&p.totalGlobalMem, device);
    if (code != cudaSuccess) return code;
    static_cast<void>(
        driver.cuDeviceGetUuid(reinterpret_cast<unsigned char*>(p.uuid.bytes), device));
    // What the driver does not know yet, a card of its time has not.
#define PROPERTY(number, field)                                                          \
  if (int value = 0; driver.cuDeviceGetAttribute(&value, number, device) == cudaSuccess) \
    p.field = static_cast<std::remove_reference_t<decltype(p.field)>>(value);
#define MODEL(number, expression)
#include "grader/device_code/cuda_api/device_attributes.def"
#undef PROPERTY
#undef MODEL
    return cudaSuccess;
  });
}

GPU_CALL cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return with_driver(
      [&](const Driver& driver) { return driver.cuDeviceGetPCIBusId(text, size, device); });
}

GPU_CALL cudaDeviceSynchronize() {
  return in_context([](const Driver& driver) { return driver.cuCtxSynchronize(); });
}

GPU_CALL cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return in_context(
      [&](const Driver& driver) { return driver.cuCtxSetLimit(static_cast<int>(limit), value); });
}

GPU_CALL cudaCtxResetPersistingL2Cache() {
  // A card that has no such lines cannot reset them.
  return in_context([](const Driver& driver) {
    const int code = driver.cuCtxResetPersistingL2Cache();
    return code == cudaErrorNotSupported ? static_cast<int>(cudaSuccess) : code;
  });
}

GPU_CALL cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return in_context(
      [&](const Driver& driver) { return driver.cuCtxGetStreamPriorityRange(least, greatest); });
}

GPU_CALL cudaMemGetInfo(std::size_t* free_bytes, std::size_t* all_bytes) {
  return in_context(
      [&](const Driver& driver) { return driver.cuMemGetInfo_v2(free_bytes, all_bytes); });
}

GPU_CALL cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  return in_context([&](const Driver& driver) -> int {
    Address found = 0;
    const int code = bytes == 0 ? 0 : driver.cuMemAlloc_v2(&found, bytes);
    *pointer = reinterpret_cast<void*>(found);
    return code;
  });
}

GPU_CALL cudaFree(void* pointer) {
  return in_context([&](const Driver& driver) {
    return pointer == nullptr ? 0 : driver.cuMemFree_v2(address(pointer));
  });
}

GPU_CALL cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  *pointer = nullptr;
  return in_context([&](const Driver& driver) -> int {
    Address found = 0;
    const int code = bytes == 0 ? 0 : driver.cuMemAllocAsync(&found, bytes, stream);
    *pointer = reinterpret_cast<void*>(found);
    return code;
  });
}

GPU_CALL cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return in_context([&](const Driver& driver) {
    return pointer == nullptr ? 0 : driver.cuMemFreeAsync(address(pointer), stream);
  });
}

GPU_CALL cudaMallocHost(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  return in_context([&](const Driver& driver) {
    return bytes == 0 ? 0 : driver.cuMemAllocHost_v2(pointer, bytes);
  });
}

GPU_CALL cudaFreeHost(void* pointer) {
  return in_context(
      [&](const Driver& driver) { return pointer == nullptr ? 0 : driver.cuMemFreeHost(pointer); });
}

GPU_CALL cudaMemset(void* pointer, int value, std::size_t bytes) {
  return in_context([&](const Driver& driver) {
    return bytes == 0
               ? 0
               : driver.cuMemsetD8_v2(address(pointer), static_cast<unsigned char>(value), bytes);
  });
}

GPU_CALL cudaMemsetAsync(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return in_context([&](const Driver& driver) {
    return bytes == 0 ? 0
                      : driver.cuMemsetD8Async(address(pointer), static_cast<unsigned char>(value),
                                               bytes, stream);
  });
}

GPU_CALL cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return in_context([&](const Driver& driver) -> int {
    if (bytes == 0) return cudaSuccess;
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return driver.cuMemcpyHtoD_v2(address(to), from, bytes);
      case cudaMemcpyDeviceToHost:
        return driver.cuMemcpyDtoH_v2(to, address(from), bytes);
      case cudaMemcpyDeviceToDevice:
        return driver.cuMemcpyDtoD_v2(address(to), address(from), bytes);
      case cudaMemcpyHostToHost:
      case cudaMemcpyDefault:
        break;
    }
    return driver.cuMemcpy(address(to), address(from), bytes);
  });
}

GPU_CALL cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  return in_context([&](const Driver& driver) -> int {
    if (bytes == 0) return cudaSuccess;
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return driver.cuMemcpyHtoDAsync_v2(address(to), from, bytes, stream);
      case cudaMemcpyDeviceToHost:
        return driver.cuMemcpyDtoHAsync_v2(to, address(from), bytes, stream);
      case cudaMemcpyDeviceToDevice:
        return driver.cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, stream);
      case cudaMemcpyHostToHost:
      case cudaMemcpyDefault:
        break;
    }
    return driver.cuMemcpyAsync(address(to), address(from), bytes, stream);
  });
}

GPU_CALL cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return in_context([&](const Driver& driver) { return driver.cuEventCreate(event, flags); });
}

GPU_CALL cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

GPU_CALL cudaEventDestroy(cudaEvent_t event) {
  return in_context([&](const Driver& driver) { return driver.cuEventDestroy_v2(event); });
}

GPU_CALL cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return in_context([&](const Driver& driver) { return driver.cuEventRecord(event, stream); });
}

GPU_CALL cudaEventQuery(cudaEvent_t event) {
  return in_context([&](const Driver& driver) { return driver.cuEventQuery(event); });
}

GPU_CALL cudaEventSynchronize(cudaEvent_t event) {
  return in_context([&](const Driver& driver) { return driver.cuEventSynchronize(event); });
}

GPU_CALL cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return in_context(
      [&](const Driver& driver) { return driver.cuEventElapsedTime(milliseconds, begin, end); });
}

GPU_CALL cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return in_context([&](const Driver& driver) {
    return driver.cuStreamCreateWithPriority(stream, flags, priority);
  });
}

GPU_CALL cudaStreamDestroy(cudaStream_t stream) {
  return in_context([&](const Driver& driver) { return driver.cuStreamDestroy_v2(stream); });
}

GPU_CALL cudaStreamSynchronize(cudaStream_t stream) {
  return in_context([&](const Driver& driver) { return driver.cuStreamSynchronize(stream); });
}

GPU_CALL cudaStreamQuery(cudaStream_t stream) {
  return in_context([&](const Driver& driver) { return driver.cuStreamQuery(stream); });
}

GPU_CALL cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return in_context(
      [&](const Driver& driver) { return driver.cuStreamWaitEvent(stream, event, flags); });
}

GPU_CALL cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return in_context([&](const Driver& driver) {
    return driver.cuStreamBeginCapture_v2(stream, static_cast<int>(mode));
  });
}

GPU_CALL cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return in_context([&](const Driver& driver) { return driver.cuStreamEndCapture(stream, graph); });
}

/// Without the data of edges, which a driver before 545 does not tell.
GPU_CALL cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                  unsigned long long* number, cudaGraph_t* graph,
                                  const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                  std::size_t* count) {
  return in_context([&](const Driver& driver) -> int {
    if (edges != nullptr) return cudaErrorNotSupported;
    int found = 0;
    const int code = driver.cuStreamGetCaptureInfo_v2(stream, &found, number, graph, nodes, count);
    *status = static_cast<cudaStreamCaptureStatus>(found);
    return code;
  });
}

GPU_CALL cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long flags) {
  return in_context([&](const Driver& driver) {
    return driver.cuGraphInstantiateWithFlags(ready, graph, flags);
  });
}

GPU_CALL cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return in_context([&](const Driver& driver) { return driver.cuGraphLaunch(ready, stream); });
}

GPU_CALL cudaGraphDestroy(cudaGraph_t graph) {
  return in_context([&](const Driver& driver) { return driver.cuGraphDestroy(graph); });
}

GPU_CALL cudaGraphExecDestroy(cudaGraphExec_t ready) {
  return in_context([&](const Driver& driver) { return driver.cuGraphExecDestroy(ready); });
}
