// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The few calls the tests make directly, so that they need no CUDA toolkit.
#pragma once

#include "grader/device_code/cuda_api/cuda_abi.hpp"

extern "C" {
cudaError_t cudaMalloc(void** out, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, void*, void**,
                                unsigned int, void*, void**, unsigned int);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file_name, void*, void**,
                                    unsigned int, void*, void**, unsigned int);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name);
cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int room,
                                        cudaLibrary_t library);
cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes, cudaLibrary_t library,
                                 const char* name);
cudaError_t cudaFuncGetName(const char** name, const void* function);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function);
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t* out);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaImportExternalMemory(void* out, const void* description);
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    int* status);
const char* membound_vgpu_name();
std::size_t membound_vgpu_take_report(char* buffer, std::size_t size);
void membound_vgpu_sample(int on, unsigned long long seed);
void membound_vgpu_run_blocks(unsigned long long first, unsigned long long count,
                              unsigned long long most, unsigned long long slice_step);
int membound_vgpu_draw_word(void* d_array, unsigned word);
void membound_vgpu_keep_uses();
std::size_t membound_vgpu_take_uses(void (*see)(void*, std::size_t, int, std::uint64_t,
                                                std::uint64_t),
                                    void* state);
}
