// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device: there is one, number 0; its properties, attributes and limits, and what ends it.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr int kCudaVersion = 13000;  // 13.0, for runtime and driver
constexpr int kLastAttribute = 147;
constexpr int kBusId = 1;
constexpr char kBusIdText[] = "0000:01:00.0";
// The stack of a lane as kernels see it: cudaLimitStackSize's largest value.
constexpr std::size_t kMostStackBytes = 512 << 10;

void set_texture_limits(cudaDeviceProp& p) {
  // Programming guide, technical specifications: the same from compute capability 6 on.
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  std::copy_n(std::array{131072, 65536}.begin(), 2, p.maxTexture2D);
  std::copy_n(std::array{32768, 32768}.begin(), 2, p.maxTexture2DMipmap);
  std::copy_n(std::array{131072, 65000, 2097120}.begin(), 3, p.maxTexture2DLinear);
  std::copy_n(std::array{32768, 32768}.begin(), 2, p.maxTexture2DGather);
  std::copy_n(std::array{16384, 16384, 16384}.begin(), 3, p.maxTexture3D);
  std::copy_n(std::array{8192, 8192, 32768}.begin(), 3, p.maxTexture3DAlt);
  p.maxTextureCubemap = 32768;
  std::copy_n(std::array{32768, 2048}.begin(), 2, p.maxTexture1DLayered);
  std::copy_n(std::array{32768, 32768, 2048}.begin(), 3, p.maxTexture2DLayered);
  std::copy_n(std::array{32768, 2046}.begin(), 2, p.maxTextureCubemapLayered);
  p.maxSurface1D = 32768;
  std::copy_n(std::array{131072, 65536}.begin(), 2, p.maxSurface2D);
  std::copy_n(std::array{16384, 16384, 16384}.begin(), 3, p.maxSurface3D);
  std::copy_n(std::array{32768, 2048}.begin(), 2, p.maxSurface1DLayered);
  std::copy_n(std::array{32768, 32768, 2048}.begin(), 3, p.maxSurface2DLayered);
  p.maxSurfaceCubemap = 32768;
  std::copy_n(std::array{32768, 2046}.begin(), 2, p.maxSurfaceCubemapLayered);
  p.textureAlignment = p.surfaceAlignment = 512;
  p.texturePitchAlignment = 32;
}

void set_compute_limits(cudaDeviceProp& p, const timing::Machine& m) {
  p.major = static_cast<int>(m.compute_major);
  p.minor = static_cast<int>(m.compute_minor);
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  std::copy_n(std::array{1024, 1024, 64}.begin(), 3, p.maxThreadsDim);
  std::copy_n(std::array{0x7fffffff, 65535, 65535}.begin(), 3, p.maxGridSize);
  p.regsPerBlock = static_cast<int>(m.registers_per_block);
  p.regsPerMultiprocessor = static_cast<int>(m.registers_per_sm);
  p.multiProcessorCount = static_cast<int>(m.sm_count);
  p.maxThreadsPerMultiProcessor = static_cast<int>(m.max_threads_per_sm);
  p.maxBlocksPerMultiProcessor = static_cast<int>(m.max_blocks_per_sm);
  p.concurrentKernels = p.cooperativeLaunch = p.streamPrioritiesSupported = 1;
  p.asyncEngineCount = static_cast<int>(m.copy_engines);
  p.computePreemptionSupported = 1;
}

void set_memory_limits(cudaDeviceProp& p, const timing::Machine& m) {
  p.totalGlobalMem = m.memory_bytes;
  p.totalConstMem = 65536;
  p.sharedMemPerBlock = m.shared_per_block_bytes;
  p.sharedMemPerBlockOptin = m.shared_per_block_optin_bytes;
  p.sharedMemPerMultiprocessor = m.shared_per_sm_bytes;
  p.reservedSharedMemPerBlock = m.shared_reserved_bytes;
  p.memPitch = 0x7fffffff;
  p.memoryBusWidth = static_cast<int>(m.memory_bus_bits);
  p.l2CacheSize = static_cast<int>(m.l2_bytes);
  p.persistingL2CacheMaxSize = m.compute_major >= 8 ? p.l2CacheSize / 16 * 10 : 0;
  p.accessPolicyMaxWindowSize = m.compute_major >= 8 ? 134213632 : 0;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.canMapHostMemory = p.unifiedAddressing = p.managedMemory = 1;
  p.concurrentManagedAccess = p.canUseHostPointerForRegisteredMem = 1;
  p.hostRegisterSupported = p.memoryPoolsSupported = 1;
}

cudaDeviceProp properties_of(const timing::Machine& m) {
  cudaDeviceProp p = {};
  std::snprintf(p.name, sizeof p.name, "%s (virtual)", m.name.c_str());
  std::snprintf(p.uuid.bytes, sizeof p.uuid.bytes, "vgpu-%s", m.id.c_str());
  p.pciBusID = kBusId;
  p.deviceNumaId = p.hostNumaId = -1;
  set_compute_limits(p, m);
  set_memory_limits(p, m);
  set_texture_limits(p);
  return p;
}

cudaError_t attribute_of(const timing::Machine& m, int attribute, int& value) {
  const cudaDeviceProp p = properties_of(m);
  switch (attribute) {
#define DEVICE_ATTRIBUTE(number, expression) \
  case number:                               \
    value = static_cast<int>(expression);    \
    return cudaSuccess;
#include "grader/vgpu/runtime/device/device_attributes.def"
#undef DEVICE_ATTRIBUTE
    default:
      value = 0;
      return attribute >= 1 && attribute <= kLastAttribute ? cudaSuccess : cudaErrorInvalidValue;
  }
}

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

}  // namespace
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
