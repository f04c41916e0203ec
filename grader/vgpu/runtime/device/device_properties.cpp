// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/device_properties.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "grader/base/strings.hpp"
#include "grader/vgpu/timing/occupancy.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr int kLastAttribute = 147;
constexpr int kBusId = 1;

// The same on every compute capability so far: programming guide, technical specifications.
constexpr std::uint32_t kMaxThreadsPerBlock = 1024;
constexpr std::array<std::uint32_t, 3> kMaxBlock = {kMaxThreadsPerBlock, kMaxThreadsPerBlock, 64};
constexpr std::array<std::uint32_t, 3> kMaxGrid = {0x7fffffff, 65535, 65535};

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
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::copy(kMaxBlock.begin(), kMaxBlock.end(), p.maxThreadsDim);
  std::copy(kMaxGrid.begin(), kMaxGrid.end(), p.maxGridSize);
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

std::string shape(const dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::string limit(std::uint64_t most) { return "; the limit is " + std::to_string(most); }

/// What is wrong with a grid or a block of this shape; empty: nothing.
std::string bad_extent(const std::string& whose, const dim3& size,
                       const std::array<std::uint32_t, 3>& most) {
  const std::array<std::uint32_t, 3> asked = {size.x, size.y, size.z};
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] == 0) return whose + " of " + shape(size) + " is empty: each extent is at least 1";
    if (asked[i] > most[i])
      return whose + " of " + shape(size) + " has " + std::to_string(asked[i]) + " along " +
             "xyz"[i] + limit(most[i]);
  }
  return "";
}

std::string bad_shape(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads > kMaxThreadsPerBlock)
    return "a block of " + shape(block) + " has " + base::counted(threads, "thread") +
           limit(kMaxThreadsPerBlock);
  const std::string wrong = bad_extent("a block", block, kMaxBlock);
  return wrong.empty() ? bad_extent("a grid", grid, kMaxGrid) : wrong;
}

std::string bad_shared(const Context& context, const KernelHandle& handle, std::size_t dynamic) {
  const std::uint64_t fixed = handle.kernel->static_shared_bytes;
  const std::uint32_t most = max_dynamic_shared_bytes(context, handle);
  const std::uint32_t opted = context.machine.shared_per_block_optin_bytes;
  const std::string asked = base::counted(dynamic, "byte") + " of dynamic shared memory " +
                            (dynamic == 1 ? "is" : "are") + " asked for" +
                            (fixed == 0 ? "" : " beside " + std::to_string(fixed) + " static ones");
  if (dynamic + fixed > opted) return asked + "; a block has at most " + std::to_string(opted);
  if (dynamic > most)
    return asked +
           "; without cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, "
           "bytes) the limit is " +
           std::to_string(most);
  return "";
}

std::string bad_block_of_kernel(const program::Kernel& kernel, const dim3& block) {
  const std::uint32_t threads = block.x * block.y * block.z;
  if (threads > kernel.max_threads_per_block)
    return "a block of " + std::to_string(threads) +
           " threads is larger than the kernel's "
           "__launch_bounds__" +
           limit(kernel.max_threads_per_block);
  if (kernel.required_block && *kernel.required_block != Dim3{block.x, block.y, block.z})
    return "a block of " + shape(block) + " is not the one that the kernel was compiled for, " +
           shape({kernel.required_block->x, kernel.required_block->y, kernel.required_block->z});
  return "";
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
#define MODEL(number, expression)         \
  case number:                            \
    value = static_cast<int>(expression); \
    return cudaSuccess;
#define PROPERTY(number, member) MODEL(number, p.member)
#include "grader/device_code/cuda_api/device_attributes.def"
#undef PROPERTY
#undef MODEL
    default:
      value = 0;
      return attribute >= 1 && attribute <= kLastAttribute ? cudaSuccess : cudaErrorInvalidValue;
  }
}

std::uint32_t registers_of_warp(const program::Kernel& kernel) {
  constexpr std::uint32_t kUnit = timing::kRegisterUnit;
  return (kernel.register_count * 32 + kUnit - 1) / kUnit * kUnit;
}

std::uint32_t max_dynamic_shared_bytes(const Context& context, const KernelHandle& handle) {
  if (handle.max_dynamic_shared_bytes >= 0)
    return static_cast<std::uint32_t>(handle.max_dynamic_shared_bytes);
  const std::uint32_t fixed = handle.kernel->static_shared_bytes;
  return context.machine.shared_per_block_bytes -
         std::min(context.machine.shared_per_block_bytes, fixed);
}

std::uint32_t max_threads_per_block(const Context& context, const program::Kernel& kernel) {
  std::uint32_t threads = std::min(kMaxThreadsPerBlock, kernel.max_threads_per_block);
  if (const std::uint32_t per_warp = registers_of_warp(kernel); per_warp > 0)
    threads = std::min(threads, context.machine.registers_per_block / per_warp / 4 * 4 * 32);
  return threads;
}

std::atomic<bool> serves_cuda12 = false;

std::optional<RefusedLaunch> refused_launch(const Context& context, const KernelHandle& handle,
                                            const LaunchConfiguration& launch) {
  const program::Kernel& kernel = *handle.kernel;
  std::string why = bad_shape(launch.grid, launch.block);
  if (!why.empty() && serves_cuda12)
    return RefusedLaunch{cudaErrorInvalidConfiguration, std::move(why)};
  // A block of a cluster would find itself alone, as it does nowhere else.
  if (why.empty() && kernel.cluster_blocks > 1)
    return RefusedLaunch{cudaErrorNotSupported, "the kernel runs in clusters of " +
                                                    base::counted(kernel.cluster_blocks, "block") +
                                                    ", of which there is no model"};
  if (why.empty()) why = bad_shared(context, handle, launch.dynamic_shared_bytes);
  if (why.empty()) why = bad_block_of_kernel(kernel, launch.block);
  if (!why.empty()) return RefusedLaunch{cudaErrorInvalidValue, std::move(why)};
  const std::uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  if (const std::uint32_t most = max_threads_per_block(context, kernel); threads > most)
    return RefusedLaunch{cudaErrorLaunchOutOfResources,
                         "a block of " + base::counted(threads, "thread") + " with " +
                             base::counted(kernel.register_count, "register") +
                             " each needs more than the " +
                             std::to_string(context.machine.registers_per_block) +
                             " that a block may have; with so "
                             "many of them a block has at most " +
                             base::counted(most, "thread")};
  if (!launch.cooperative) return std::nullopt;
  const auto shared =
      static_cast<std::uint32_t>(kernel.static_shared_bytes + launch.dynamic_shared_bytes);
  const timing::Occupancy occupancy =
      occupancy_of(context.machine, {threads, kernel.register_count, shared});
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  const std::uint64_t most = std::uint64_t{occupancy.blocks} * context.machine.sm_count;
  if (blocks <= most) return std::nullopt;
  return RefusedLaunch{cudaErrorCooperativeLaunchTooLarge,
                       "a cooperative launch of " + base::counted(blocks, "block") +
                           ", which must all run at the same time" + limit(most)};
}

}  // namespace membound::vgpu::runtime
