// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/device.hpp"

#include <dlfcn.h>

#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/device/device_scope.hpp"

namespace membound::harness {
namespace {

/// One of the functions that the virtual GPU's runtime library has beside the CUDA API.
template <typename Function>
Function* virtual_gpu_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

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
  if (auto* name = virtual_gpu_function<const char*()>("membound_vgpu_name"))
    info.virtual_name = name();
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

base::Result<Device> Device::open(int number) {
  int count = 0;
  if (const cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess)
    return no_device(code);
  if (number >= count) return no_device(count == 0 ? cudaErrorNoDevice : cudaErrorInvalidDevice);
  const DeviceScope on(number);
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, number); code != cudaSuccess)
    return no_device(code);

  Device device;
  device.number_ = number;
  device.info_ = info_of(properties);
  device.limits_.grid = {properties.maxGridSize[0], properties.maxGridSize[1],
                         properties.maxGridSize[2]};
  device.limits_.block = {properties.maxThreadsDim[0], properties.maxThreadsDim[1],
                          properties.maxThreadsDim[2]};
  device.limits_.threads_per_block = properties.maxThreadsPerBlock;
  device.limits_.shared_bytes_per_block =
      static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  device.limits_.registers_per_block = properties.regsPerBlock;
  device.plan_gpu_ = {properties.multiProcessorCount,
                      properties.maxThreadsPerMultiProcessor,
                      static_cast<int>(properties.sharedMemPerBlockOptin),
                      static_cast<int>(properties.sharedMemPerMultiprocessor),
                      properties.regsPerMultiprocessor,
                      properties.l2CacheSize};
  char bus_id[32] = {};
  if (!device.is_virtual() && cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), number) == cudaSuccess)
    device.pci_bus_id_ = bus_id;
  return device;
}

DeviceLimits Device::limits() const {
  DeviceLimits limits = limits_;
  std::size_t free_bytes = 0, all_bytes = 0;
  const DeviceScope on(number_);
  cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the free device memory");
  limits.free_bytes = static_cast<std::int64_t>(free_bytes);
  return limits;
}

std::string Device::take_report_text() const {
  auto* take = virtual_gpu_function<std::size_t(char*, std::size_t)>("membound_vgpu_take_report");
  if (!is_virtual() || take == nullptr) return {};
  const DeviceScope on(number_);
  std::string text(take(nullptr, 0), '\0');
  text.resize(take(text.data(), text.size()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

nlohmann::json Device::take_report() const {
  const std::string text = take_report_text();
  return text.empty() ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
}

}  // namespace membound::harness
