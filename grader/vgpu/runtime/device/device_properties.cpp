// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/device_properties.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace membound::vgpu::runtime {
namespace {

constexpr int kLastAttribute = 147;
constexpr int kBusId = 1;

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

}  // namespace

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

}  // namespace membound::vgpu::runtime
