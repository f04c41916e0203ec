// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code loaded by name: cudaLibrary…, and variables of any module by symbol.
#include <cstdio>
#include <memory>
#include <vector>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"

namespace membound::vgpu::runtime {
namespace {

/// The whole of a file; nothing when it cannot be read.
std::optional<std::vector<std::byte>> read_file(const char* name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name, "rb"), std::fclose);
  if (!file) return std::nullopt;
  std::vector<std::byte> bytes;
  std::byte piece[65536];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get()))
    bytes.insert(bytes.end(), piece, piece + got);
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
