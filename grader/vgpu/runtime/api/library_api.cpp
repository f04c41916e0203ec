// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code by name (cudaLibrary…, variables of any module by symbol), and what nvcc's host code
/// calls by itself: registering device code before main, and the two halves of `<<<…>>>`. Nothing
/// is read or parsed at registration; that happens when a kernel or variable is first used.
#include <cstdio>
#include <memory>
#include <vector>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/kernel_launch.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

namespace membound::vgpu::runtime {
namespace {

/// The whole of a file; nothing when it cannot be read.
std::optional<std::vector<std::byte>> read_file(const char* name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name, "rb"), std::fclose);
  if (!file) return std::nullopt;
  std::vector<std::byte> bytes;
  std::byte buffer[65536];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get()))
    bytes.insert(bytes.end(), buffer, buffer + got);
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return bytes;
}

/// Loads at once: a library call has somewhere to put an error.
cudaError_t load(Call call, cudaLibrary_t* out, std::unique_ptr<Module> module) {
  const base::Status loaded = module->load(call.context.memory, call.context.code_target());
  if (!loaded) {
    messages::print(messages::unusable_code("", loaded.error()));
    return module->load_code();
  }
  Module& kept = call.context.registry.add_library(std::move(module));
  for (KernelHandle* handle : kept.all_handles()) call.context.registry.remember(*handle);
  *out = call.context.registry.handle_of(kept);
  return cudaSuccess;
}

template <typename Body>
cudaError_t with_library(cudaLibrary_t handle, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    Module* module = call.context.registry.find_library(handle);
    return module ? body(call.context, *module) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t variable(Module& module, const char* name, bool managed, void** address,
                     std::size_t* bytes) {
  if (name == nullptr || (address == nullptr && bytes == nullptr)) return cudaErrorInvalidValue;
  const auto placed = module.variable(name);
  if (!placed || placed->is_managed != managed) return cudaErrorSymbolNotFound;
  if (address != nullptr) *address = reinterpret_cast<void*>(placed->address);
  if (bytes != nullptr) *bytes = placed->bytes;
  return cudaSuccess;
}

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

CUDA_CALL cudaLibraryLoadData(cudaLibrary_t* library, const void* code, void*, void**, unsigned int,
                              void*, void**, unsigned int) {
  return api_call(Waits::kNo, [&](Call call) {
    if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
    return load(call, library, std::make_unique<Module>(code, false, "the library's data"));
  });
}

CUDA_CALL cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file_name, void*, void**,
                                  unsigned int, void*, void**, unsigned int) {
  return api_call(Waits::kNo, [&](Call call) {
    if (library == nullptr || file_name == nullptr) return cudaErrorInvalidValue;
    auto bytes = read_file(file_name);
    if (!bytes) return cudaErrorFileNotFound;
    return load(call, library, std::make_unique<Module>(std::move(*bytes), file_name));
  });
}

CUDA_CALL cudaLibraryUnload(cudaLibrary_t library) {
  return api_call(Waits::kYes, [&](Call call) {
    return call.context.registry.remove_library(library, call.context.memory)
               ? cudaSuccess
               : cudaErrorInvalidResourceHandle;
  });
}

CUDA_CALL cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return with_library(library, [&](Context&, Module& module) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    if (module.program().find_kernel(name) == nullptr) return cudaErrorSymbolNotFound;
    *kernel = static_cast<CUkern_st*>(&module.handle(name));
    return cudaSuccess;
  });
}

CUDA_CALL cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return with_library(library, [&](Context&, Module& module) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned int>(module.program().kernels().size());
    return cudaSuccess;
  });
}

CUDA_CALL cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int room,
                                      cudaLibrary_t library) {
  return with_library(library, [&](Context&, Module& module) {
    if (kernels == nullptr) return cudaErrorInvalidValue;
    unsigned int next = 0;
    for (KernelHandle* handle : module.all_handles())
      if (next < room) kernels[next++] = static_cast<CUkern_st*>(handle);
    return cudaSuccess;
  });
}

CUDA_CALL cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                               const char* name) {
  return with_library(library, [&](Context&, Module& module) {
    return variable(module, name, false, address, bytes);
  });
}

CUDA_CALL cudaLibraryGetManaged(void** address, std::size_t* bytes, cudaLibrary_t library,
                                const char* name) {
  return with_library(library, [&](Context&, Module& module) {
    return variable(module, name, true, address, bytes);
  });
}

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
