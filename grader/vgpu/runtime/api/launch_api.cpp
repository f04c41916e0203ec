// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Launches, and what can be asked about and set for a kernel. Host stubs and cudaKernel_t handles
/// are accepted alike.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/device_properties.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"
#include "grader/vgpu/timing/occupancy.hpp"

namespace membound::vgpu::runtime {
namespace {

struct LaunchArguments {
  const void* function;
  dim3 grid;
  dim3 block;
  void* const* arguments;
  std::size_t shared_bytes;
  cudaStream_t stream;
  bool cooperative;
};

/// `why`: what a refused launch asks for too much of.
cudaError_t launch(Call call, const LaunchArguments& launch, std::string& why) {
  Context& only = call.context;
  KernelHandle* handle = only.registry.find_kernel(launch.function);
  if (handle == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const cudaError_t code = load_kernel(only, *handle); code != cudaSuccess) return code;
  Stream* stream = call.stream(launch.stream);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const auto dynamic_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
  const auto refused = refused_launch(
      only, *handle, {launch.grid, launch.block, dynamic_shared_bytes, launch.cooperative});
  if (refused) {
    why = refused->why;
    return refused->code;
  }
  if (launch.arguments == nullptr && !handle->kernel->parameters.empty())
    return cudaErrorInvalidValue;
  KernelOperation operation{handle,
                            {launch.grid.x, launch.grid.y, launch.grid.z},
                            {launch.block.x, launch.block.y, launch.block.z},
                            dynamic_shared_bytes,
                            pack_parameters(*handle->kernel, launch.arguments),
                            launch.cooperative};
  return submit(only, call.lock, *stream, std::move(operation)).code;
}

cudaError_t launch_now(const LaunchArguments& arguments, std::string& why) {
  return api_call(Waits::kNo, [&](Call call) { return launch(call, arguments, why); });
}
cudaError_t launch_now(const LaunchArguments& arguments) {
  std::string why;  // the code is the caller's
  return launch_now(arguments, why);
}

/// `<<<…>>>` has nowhere to put an error: remember that somebody should ask.
cudaError_t launch_from_stub(const LaunchArguments& arguments) {
  std::string why;
  const cudaError_t code = launch_now(arguments, why);
  if (code != cudaSuccess && existing_context() != nullptr) {
    Context& only = context();
    const std::scoped_lock lock(only.mutex);
    const KernelHandle* handle = only.registry.find_kernel(arguments.function);
    note_unchecked_launch({handle ? handle->name : "an unknown kernel", code, std::move(why)});
  }
  return code;
}

cudaError_t read_attributes(const cudaLaunchConfig_t& config, LaunchArguments& arguments) {
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative)
      arguments.cooperative = attribute.val.cooperative != 0;
    if (attribute.id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = attribute.val.clusterDim;
      if (std::uint64_t{cluster.x} * cluster.y * cluster.z > 1) return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

cudaError_t launch_configured(const cudaLaunchConfig_t* config, const void* function,
                              void** arguments, cudaStream_t stream) {
  if (config == nullptr) return remember_error(cudaErrorInvalidValue);
  LaunchArguments launch{function,  config->gridDim,          config->blockDim,
                         arguments, config->dynamicSmemBytes, stream,
                         false};
  if (const cudaError_t code = read_attributes(*config, launch); code != cudaSuccess)
    return remember_error(code);
  return launch_now(launch);
}

/// Runs `body` with a loaded kernel.
template <typename Body>
cudaError_t with_kernel(const void* function, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    KernelHandle* handle = call.context.registry.find_kernel(function);
    if (handle == nullptr) return cudaErrorInvalidDeviceFunction;
    if (const cudaError_t code = load_kernel(call.context, *handle); code != cudaSuccess)
      return code;
    return body(call.context, *handle);
  });
}

cudaError_t set_attribute(Context& only, KernelHandle& handle, cudaFuncAttribute attribute,
                          int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const std::int64_t most = std::int64_t{only.machine.shared_per_block_optin_bytes} -
                              handle.kernel->static_shared_bytes;
    if (value < 0 || value > most) return cudaErrorInvalidValue;
    handle.max_dynamic_shared_bytes = value;
    return cudaSuccess;
  }
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100) return cudaErrorInvalidValue;
    handle.preferred_carveout = value;
    return cudaSuccess;
  }
  return attribute == cudaFuncAttributeNonPortableClusterSizeAllowed ? cudaSuccess
                                                                     : cudaErrorInvalidValue;
}

timing::Occupancy occupancy(const Context& only, const KernelHandle& handle, int threads,
                            std::size_t dynamic_shared_bytes) {
  return occupancy_of(
      only.machine,
      {static_cast<std::uint32_t>(threads), handle.kernel->register_count,
       static_cast<std::uint32_t>(handle.kernel->static_shared_bytes + dynamic_shared_bytes)});
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those that nvcc's programs call
CUDA_STREAM_CALL(__cudaLaunchKernel,
                 (cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                  std::size_t shared_bytes, cudaStream_t stream),
                 (kernel, grid, block, arguments, shared_bytes, stream)) {
  return launch_from_stub({kernel, grid, block, arguments, shared_bytes, stream, false});
}

// NOLINTEND(bugprone-reserved-identifier)

CUDA_STREAM_CALL(cudaLaunchKernel,
                 (const void* function, dim3 grid, dim3 block, void** arguments,
                  std::size_t shared_bytes, cudaStream_t stream),
                 (function, grid, block, arguments, shared_bytes, stream)) {
  return launch_now({function, grid, block, arguments, shared_bytes, stream, false});
}

CUDA_CALL cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                              void** arguments) {
  return launch_configured(config, function, arguments, config ? config->stream : nullptr);
}

CUDA_CALL cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function,
                                   void** arguments) {
  return launch_configured(config, function, arguments,
                           per_thread(config ? config->stream : nullptr));
}

CUDA_STREAM_CALL(cudaLaunchCooperativeKernel,
                 (const void* function, dim3 grid, dim3 block, void** arguments,
                  std::size_t shared_bytes, cudaStream_t stream),
                 (function, grid, block, arguments, shared_bytes, stream)) {
  return launch_now({function, grid, block, arguments, shared_bytes, stream, true});
}

CUDA_STREAM_CALL(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data),
                 (stream, function, data)) {
  return api_call(Waits::kNo, [&](Call call) {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    return submit(call.context, call.lock, *target, HostOperation{function, data, nullptr, stream})
        .code;
  });
}

CUDA_CALL cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return with_kernel(function, [&](Context& only, KernelHandle& handle) {
    if (out == nullptr) return cudaErrorInvalidValue;
    const auto& kernel = *handle.kernel;
    *out = {};
    out->sharedSizeBytes = kernel.static_shared_bytes;
    for (const auto& variable : handle.module->program().globals())
      if (variable.is_constant) out->constSizeBytes += variable.size_bytes;
    out->localSizeBytes = kernel.local_bytes;
    out->maxThreadsPerBlock = static_cast<int>(max_threads_per_block(only, kernel));
    out->numRegs = static_cast<int>(kernel.register_count);
    out->ptxVersion = out->binaryVersion = static_cast<int>(handle.module->ptx_version());
    out->cacheModeCA = 1;
    out->maxDynamicSharedSizeBytes = static_cast<int>(max_dynamic_shared_bytes(only, handle));
    out->preferredShmemCarveout = handle.preferred_carveout;
    return cudaSuccess;
  });
}

CUDA_CALL cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](Context& only, KernelHandle& handle) {
    return set_attribute(only, handle, attribute, value);
  });
}

CUDA_CALL cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                          int value, int device) {
  if (device != 0) return remember_error(cudaErrorInvalidDevice);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

CUDA_CALL cudaFuncSetCacheConfig(const void* function, int) {
  return with_kernel(function, [](Context&, KernelHandle&) { return cudaSuccess; });
}

CUDA_CALL cudaFuncSetSharedMemConfig(const void* function, int) {
  return with_kernel(function, [](Context&, KernelHandle&) { return cudaSuccess; });
}

CUDA_CALL cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function, [&](Context&, KernelHandle& handle) {
    if (name == nullptr) return cudaErrorInvalidValue;
    *name = handle.name.c_str();
    return cudaSuccess;
  });
}

CUDA_CALL cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                               std::size_t* size) {
  return with_kernel(function, [&](Context&, KernelHandle& handle) {
    if (offset == nullptr || index >= handle.kernel->parameters.size())
      return cudaErrorInvalidValue;
    *offset = handle.kernel->parameters[index].offset_bytes;
    if (size != nullptr) *size = handle.kernel->parameters[index].size_bytes;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetFuncBySymbol(cudaFunction_t* out, const void* function) {
  return with_kernel(function, [&](Context&, KernelHandle& handle) {
    *out = static_cast<CUkern_st*>(&handle);
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetKernel(cudaKernel_t* out, const void* function) {
  return cudaGetFuncBySymbol(out, function);
}

CUDA_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                 int threads,
                                                                 std::size_t shared_bytes,
                                                                 unsigned int) {
  return with_kernel(function, [&](Context& only, KernelHandle& handle) {
    if (blocks == nullptr || threads <= 0) return cudaErrorInvalidValue;
    const bool allowed =
        static_cast<std::uint32_t>(threads) <= max_threads_per_block(only, *handle.kernel) &&
        shared_bytes <= max_dynamic_shared_bytes(only, handle);
    *blocks = allowed ? static_cast<int>(occupancy(only, handle, threads, shared_bytes).blocks) : 0;
    return cudaSuccess;
  });
}

CUDA_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                        int threads, std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, 0);
}

CUDA_CALL cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* out, const void* function,
                                                    int blocks, int threads) {
  return with_kernel(function, [&](Context& only, KernelHandle& handle) {
    if (out == nullptr || blocks <= 0 || threads <= 0) return cudaErrorInvalidValue;
    const auto& m = only.machine;
    const std::uint32_t fixed = handle.kernel->static_shared_bytes + m.shared_reserved_bytes;
    const std::uint32_t each = m.shared_per_sm_bytes / static_cast<std::uint32_t>(blocks) /
                               m.shared_unit_bytes * m.shared_unit_bytes;
    *out = std::min(each > fixed ? each - fixed : 0, max_dynamic_shared_bytes(only, handle));
    return cudaSuccess;
  });
}
