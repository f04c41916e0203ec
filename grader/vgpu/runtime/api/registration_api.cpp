// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What nvcc's host code calls by itself: registering device code before main, and the two halves
/// of
/// `<<<…>>>`. Nothing is read or parsed here; that happens when a kernel or variable is first used.
#include <vector>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"

namespace membound::vgpu::runtime {
namespace {

/// A launch's configuration between the caller and the kernel's host stub.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  void* stream;
};

thread_local std::vector<Configuration> configurations;

Module* module_of(void** handle) { return reinterpret_cast<Module*>(handle); }

/// Managed variables need their address before the first kernel: host code reads them through it.
bool fill_managed_pointers(Context& only, Module& module) {
  const base::Status loaded = module.load(only.memory, only.code_target());
  if (!loaded) {
    if (module.take_first_report()) messages::print(messages::unusable_code("", loaded.error()));
    return false;
  }
  for (const RegisteredVariable* variable : only.registry.variables_of(module)) {
    if (variable->managed_pointer == nullptr) continue;
    if (const auto placed = module.variable(variable->name))
      *variable->managed_pointer = reinterpret_cast<void*>(placed->address);
  }
  return true;
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those that nvcc's programs call
CUDA_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  return reinterpret_cast<void**>(&only.registry.add_program(wrapper));
}

CUDA_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

CUDA_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.registry.remove_program(*module_of(handle), only.memory);
}

CUDA_EXPORT void __cudaRegisterFunction(void** handle, const char* host_stub, char*,
                                        const char* device_name, int, void*, void*, void*, void*,
                                        int*) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.registry.add_kernel(host_stub, *module_of(handle), device_name);
}

CUDA_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, const char* device_name, int,
                                   std::size_t, int, int) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.registry.add_variable(host, {module_of(handle), device_name, nullptr});
}

CUDA_EXPORT void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                          const char* device_name, int, std::size_t, int, int) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.registry.add_variable(host_pointer, {module_of(handle), device_name, host_pointer});
}

/// Variables of relocatable host programs, found through their host address.
CUDA_EXPORT void __cudaRegisterHostVar(void** handle, const char* device_name, char* host,
                                       std::size_t) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  only.registry.add_variable(host, {module_of(handle), device_name, nullptr});
}

CUDA_EXPORT char __cudaInitModule(void** handle) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  return fill_managed_pointers(only, *module_of(handle)) ? 1 : 0;
}

CUDA_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                     std::size_t shared_bytes, void* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

CUDA_CALL __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                     void* stream) {
  if (configurations.empty()) return remember_error(cudaErrorMissingConfiguration);
  const Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<void**>(stream) = top.stream;
  return cudaSuccess;
}

CUDA_CALL __cudaGetKernel(cudaKernel_t* out, const void* host_stub) {
  Context& only = context();
  const std::scoped_lock lock(only.mutex);
  *out = static_cast<CUkern_st*>(only.registry.find_kernel(host_stub));
  return *out ? cudaSuccess : remember_error(cudaErrorInvalidDeviceFunction);
}
// NOLINTEND(bugprone-reserved-identifier)
