// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The calls of the CUDA runtime, for an editor that reads a whole program without NVIDIA's toolkit
/// (.clangd names it behind cuda_for_clang.cuh): our own cuda_runtime_api.h, and on top of it
/// default arguments, pointers of any type, and what `<<<...>>>` stands for. Nothing is compiled
/// with it. Source: CUDA Runtime API, "Modules".
#pragma once

#include "grader/device_code/cuda_api/include/cuda_runtime_api.h"

extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                              cudaStream_t stream = nullptr);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                                         cudaStream_t stream = nullptr);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                 unsigned long long flags = 0);
}

template <typename T>
cudaError_t cudaMalloc(T** pointer, std::size_t bytes);
template <typename T>
cudaError_t cudaMallocHost(T** pointer, std::size_t bytes, unsigned int flags = 0);
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, std::size_t bytes, unsigned int flags);
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal);
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream);

namespace membound::detail {

inline constexpr const char* kDeclaredCalls[] = {
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaConfigureCall",
    "__cudaPushCallConfiguration",
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

// Every other call of the runtime, with arguments of any kind.
#define ENTRY_POINT(name, state)   \
  template <typename... Arguments> \
  requires(!membound::detail::is_declared(#name)) cudaError_t name(Arguments...);
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
