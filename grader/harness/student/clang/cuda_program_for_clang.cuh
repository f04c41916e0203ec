// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CUDA runtime for a whole program that clang compiles without NVIDIA's toolkit, and for an
/// editor that reads one: the calls of our own cuda_runtime_api.h with the default arguments that
/// NVIDIA's cuda_runtime.h gives them, its templates for pointers of any type, kernels and
/// variables of the device, and what `<<<...>>>` stands for. Source: CUDA Runtime API, "Modules".
#pragma once

// What nvcc's own cuda_runtime.h brings besides.
#ifndef MEMBOUND_EDITOR
#include <cmath>  // clangd 14 takes it for device code here, and then finds no operator new
#endif
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "grader/device_code/cuda_api/include/cuda_runtime_api.h"

extern "C" {
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream = nullptr);
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height = 0, unsigned int flags = 0);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags = 0);
}

// Memory of any type.

template <typename T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes) {
  return ::cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return ::cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** pointer, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(pointer), host, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

// Variables of the device.

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol(static_cast<const void*>(&symbol), from, bytes, offset, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, static_cast<const void*>(&symbol), bytes, offset, kind);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return ::cudaGetSymbolAddress(pointer, static_cast<const void*>(&symbol));
}
template <typename T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T& symbol) {
  return ::cudaGetSymbolSize(bytes, static_cast<const void*>(&symbol));
}

// Kernels, by their names.

template <typename Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return ::cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments,
                            shared_bytes, stream);
}
template <typename Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                        std::size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  return ::cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block,
                                       arguments, shared_bytes, stream);
}
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return ::cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* kernel, int threads,
                                                          std::size_t shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}

namespace membound::detail {

inline constexpr const char* kDeclaredCalls[] = {
    "cudaGetErrorName",
    "cudaGetErrorString",
#define RUNTIME_FUNCTION(name, parameters) #name,
#include "grader/device_code/cuda_api/include/runtime_functions.def"
#undef RUNTIME_FUNCTION
};

constexpr bool is_declared(const char* name) {
  for (const char* const declared : kDeclaredCalls)
    if (__builtin_strcmp(name, declared) == 0) return true;
  return false;
}

}  // namespace membound::detail

// Every other call of the runtime is refused by its name; an editor takes it as it is, because nvcc
// may be what compiles.
#ifdef MEMBOUND_EDITOR
#define MEMBOUND_UNDECLARED
#else
#define MEMBOUND_UNDECLARED \
  __attribute__((unavailable("the course's headers for clang do not declare it; nvcc's do")))
#endif
#define ENTRY_POINT(name, state)                                                        \
  template <typename... Arguments>                                                      \
  requires(!membound::detail::is_declared(#name)) MEMBOUND_UNDECLARED cudaError_t name( \
      Arguments...);
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
#undef MEMBOUND_UNDECLARED

// What `<<<...>>>` stands for: after the table, because clang takes the last of this name that it
// sees.
extern "C" {
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                         cudaStream_t stream = nullptr);
unsigned int __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                        void* stream);
}
