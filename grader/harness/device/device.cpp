// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/device.hpp"

#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/device/device_scope.hpp"
#include "grader/harness/device/gpu.hpp"
#include "grader/harness/device/virtual_gpu.hpp"

namespace membound::harness {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

base::Error no_device(cudaError_t code) {
  return {base::ErrorKind::kMachine, "CUDA device", cuda_error_text(code),
          "a GPU that the driver and the runtime library agree about",
          "run `membound doctor`, or use the virtual GPU with --device vgpu:h200"};
}

course::DeviceInfo info_of(const cudaDeviceProp& properties) {
  course::DeviceInfo info;
  info.name = properties.name;
  info.virtual_name = virtual_gpu_name();
  info.compute_capability =
      std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.sm_count = properties.multiProcessorCount;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.l2_bytes = properties.l2CacheSize;
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess) info.driver_version = version_text(version);
  if (cudaRuntimeGetVersion(&version) == cudaSuccess) info.runtime_version = version_text(version);
  return info;
}

}  // namespace

base::Result<std::unique_ptr<Device>> Device::open(int number) {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess)
    return no_device(code);
  if (number >= count) return no_device(count == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice);
  const DeviceScope on(number);
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, number); code != cudaSuccess)
    return no_device(code);

  DeviceFacts facts{.number = number, .info = info_of(properties)};
  facts.limits.grid = {properties.maxGridSize[0], properties.maxGridSize[1],
                       properties.maxGridSize[2]};
  facts.limits.block = {properties.maxThreadsDim[0], properties.maxThreadsDim[1],
                        properties.maxThreadsDim[2]};
  facts.limits.threads_per_block = properties.maxThreadsPerBlock;
  facts.limits.shared_bytes_per_block =
      static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  facts.limits.registers_per_block = properties.regsPerBlock;
  facts.plan_gpu = {properties.multiProcessorCount,
                    properties.maxThreadsPerMultiProcessor,
                    static_cast<int>(properties.sharedMemPerBlockOptin),
                    static_cast<int>(properties.sharedMemPerMultiprocessor),
                    properties.regsPerMultiprocessor,
                    properties.l2CacheSize};
  return facts.info.virtual_name.empty() ? make_gpu(std::move(facts))
                                         : make_virtual_gpu(std::move(facts));
}

DeviceLimits Device::limits() const {
  DeviceLimits limits = facts_.limits;
  std::size_t free_bytes = 0, all_bytes = 0;
  const DeviceScope on(number());
  cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the free device memory");
  limits.free_bytes = static_cast<std::int64_t>(free_bytes);
  return limits;
}

SampledLaunches::SampledLaunches(const Device& device, std::optional<Sampling> how)
    : device_(how ? &device : nullptr) {
  if (how) device.sample_launches(how);
}

SampledLaunches::~SampledLaunches() {
  if (device_ != nullptr) device_->sample_launches(std::nullopt);
}

}  // namespace membound::harness
