// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device: there is one, number 0; its limits and preferences, what ends it, and the last
/// error.
#include <algorithm>
#include <cstring>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/device_properties.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr int kCudaVersion = 13000;            // 13.0, for runtime and driver
constexpr char kBusIdText[] = "0000:01:00.0";  // as cudaDeviceProp::pciBusID
// The stack of a lane as kernels see it: cudaLimitStackSize's largest value.
constexpr std::size_t kMostStackBytes = 512 << 10;

/// Runs `body` if `device` is the one there is.
template <typename Body>
cudaError_t on_device(int device, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    return device == 0 ? body(call.context) : cudaErrorInvalidDevice;
  });
}

std::optional<std::size_t> limit_of(const Context& only, cudaLimit limit) {
  switch (limit) {
    case cudaLimitStackSize:
      return only.limits.stack_bytes;
    case cudaLimitPrintfFifoSize:
      return only.services.print_limit();
    case cudaLimitMallocHeapSize:
      return only.services.heap_limit();
    case cudaLimitDevRuntimeSyncDepth:
      return only.limits.sync_depth;
    case cudaLimitDevRuntimePendingLaunchCount:
      return only.limits.pending_launches;
    case cudaLimitMaxL2FetchGranularity:
      return only.limits.l2_fetch_bytes;
    case cudaLimitPersistingL2CacheSize:
      return only.limits.persisting_l2_bytes;
  }
  return std::nullopt;
}

cudaError_t set_limit(Context& only, cudaLimit limit, std::size_t value) {
  switch (limit) {
    case cudaLimitStackSize:
      if (value > kMostStackBytes) return cudaErrorInvalidValue;
      only.limits.stack_bytes = value;
      return cudaSuccess;
    case cudaLimitPrintfFifoSize:
      only.services.set_print_limit(value);
      return cudaSuccess;
    case cudaLimitMallocHeapSize:
      only.services.set_heap_limit(value);
      return cudaSuccess;
    case cudaLimitDevRuntimePendingLaunchCount:
      only.limits.pending_launches = value;
      return cudaSuccess;
    case cudaLimitMaxL2FetchGranularity:
      if (value > 128) return cudaErrorInvalidValue;
      only.limits.l2_fetch_bytes = value;
      return cudaSuccess;
    case cudaLimitPersistingL2CacheSize:
      if (only.machine.compute_major < 8) return cudaErrorUnsupportedLimit;
      only.limits.persisting_l2_bytes = value;
      return cudaSuccess;
    default:
      return cudaErrorUnsupportedLimit;
  }
}

thread_local cudaError_t this_threads_error = cudaSuccess;

/// What this thread's calls have returned since it was asked for last. Errors that cost the device
/// are forgotten like all others; it is the next call which needs the device that returns them
/// again (as an H200 with CUDA 13 does).
cudaError_t read_last_error(bool forget) {
  launch_error_is_read();
  return last_error(forget);
}

}  // namespace

cudaError_t remember_error(cudaError_t code) {
  if (code != cudaSuccess) this_threads_error = code;
  return code;
}

cudaError_t last_error(bool forget) {
  const cudaError_t code = this_threads_error;
  if (forget) this_threads_error = cudaSuccess;
  return code;
}

}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaGetDeviceCount(int* count) {
  if (count == nullptr) return remember_error(cudaErrorInvalidValue);
  *count = 1;
  return cudaSuccess;
}

CUDA_CALL cudaGetDevice(int* device) {
  if (device == nullptr) return remember_error(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

CUDA_CALL cudaSetDevice(int device) {
  return on_device(device, [](Context&) { return cudaSuccess; });
}

CUDA_CALL cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }

CUDA_CALL cudaSetValidDevices(int* devices, int count) {
  return api_call(Waits::kNo, [&](Call) {
    if (count < 0 || (count > 0 && devices == nullptr)) return cudaErrorInvalidValue;
    return std::all_of(devices, devices + count, [](int device) { return device == 0; })
               ? cudaSuccess
               : cudaErrorInvalidDevice;
  });
}

CUDA_CALL cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (wanted == nullptr) return remember_error(cudaErrorInvalidValue);
  return cudaGetDevice(device);
}

CUDA_CALL cudaSetDeviceFlags(unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    call.context.device_flags = flags;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetDeviceFlags(unsigned int* flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = call.context.device_flags | 8;  // host memory can always be mapped
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return on_device(device, [&](Context& only) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    *properties = properties_of(only.machine);
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return on_device(device, [&](Context& only) {
    return value ? attribute_of(only.machine, attribute, *value) : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api_call(Waits::kNo, [&](Call call) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto found = limit_of(call.context, limit);
    if (!found) return cudaErrorUnsupportedLimit;
    *value = *found;
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api_call(Waits::kNo, [&](Call call) { return set_limit(call.context, limit, value); });
}

CUDA_CALL cudaDeviceReset() {
  // The way back from a lost device: it must not be answered with the error.
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  wait_for_all(only);
  only.reset();
  last_error(true);
  return cudaSuccess;
}

CUDA_CALL cudaDriverGetVersion(int* version) {
  if (version == nullptr) return remember_error(cudaErrorInvalidValue);
  *version = kCudaVersion;
  return cudaSuccess;
}

CUDA_CALL cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

CUDA_CALL cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return on_device(device, [&](Context&) {
    if (text == nullptr || size < static_cast<int>(sizeof kBusIdText)) return cudaErrorInvalidValue;
    std::memcpy(text, kBusIdText, sizeof kBusIdText);
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return api_call(Waits::kNo, [&](Call) {
    if (device == nullptr || text == nullptr) return cudaErrorInvalidValue;
    if (std::strcmp(text, kBusIdText) != 0) return cudaErrorInvalidDevice;
    *device = 0;
    return cudaSuccess;
  });
}

// One device has no peers.

CUDA_CALL cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return on_device(device == 0 ? peer : device, [&](Context&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    *can = 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceEnablePeerAccess(int, unsigned int) {
  return remember_error(cudaErrorInvalidDevice);
}

CUDA_CALL cudaDeviceDisablePeerAccess(int) { return remember_error(cudaErrorInvalidDevice); }

CUDA_CALL cudaDeviceGetP2PAttribute(int*, int, int, int) {
  return remember_error(cudaErrorInvalidDevice);
}

// Preferences between L1 and shared memory: kept nowhere, they change no result.

CUDA_CALL cudaDeviceSetCacheConfig(int) {
  return api_call(Waits::kNo, [](Call) { return cudaSuccess; });
}

CUDA_CALL cudaDeviceGetCacheConfig(int* config) {
  return api_call(Waits::kNo, [&](Call) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceSetSharedMemConfig(int) {
  return api_call(Waits::kNo, [](Call) { return cudaSuccess; });
}

CUDA_CALL cudaDeviceGetSharedMemConfig(int* config) {
  return api_call(Waits::kNo, [&](Call) {
    if (config == nullptr) return cudaErrorInvalidValue;
    *config = 1;  // banks are four bytes wide
    return cudaSuccess;
  });
}

CUDA_CALL cudaProfilerStart() {
  return api_call(Waits::kNo, [](Call) { return cudaSuccess; });
}

CUDA_CALL cudaProfilerStop() {
  return api_call(Waits::kNo, [](Call) { return cudaSuccess; });
}

// The driver API is not there: say so the way the runtime does for a name it does not know.

CUDA_CALL cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                           unsigned long long, int* status) {
  return api_call(Waits::kNo, [&](Call) {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    *function = nullptr;
    if (status == nullptr) return cudaErrorSymbolNotFound;
    *status = 1;  // cudaDriverEntryPointSymbolNotFound
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function,
                                                unsigned int version, unsigned long long flags,
                                                int* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, version, flags, status);
}

CUDA_CALL cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                  int* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, kCudaVersion, flags, status);
}

CUDA_CALL cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function,
                                       unsigned long long flags, int* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, kCudaVersion, flags, status);
}

CUDA_CALL cudaGetLastError() { return read_last_error(true); }

CUDA_CALL cudaPeekAtLastError() { return read_last_error(false); }

CUDA_EXPORT const char* cudaGetErrorName(cudaError_t error) { return messages::error_name(error); }

CUDA_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return messages::error_text(error);
}
