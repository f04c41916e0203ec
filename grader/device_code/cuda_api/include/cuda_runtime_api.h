// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the CUDA 13 runtime's interface that harness and runner use, in our own
/// declarations: a machine without NVIDIA's toolkit builds the labs' test programs and the runner
/// with this header and links them with the virtual GPU's libcudart.so.13. On the search path only
/// there; else NVIDIA's is used.
#pragma once

#include <cstddef>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

enum cudaDeviceAttr : int;
enum cudaFuncCache : int;
enum cudaJitOption : int;
enum cudaLibraryOption : int;
enum cudaDriverEntryPointQueryResult : int { cudaDriverEntryPointSuccess = 0 };
inline constexpr unsigned long long cudaEnableDefault = 0;

extern "C" {
#define RUNTIME_FUNCTION(name, parameters) cudaError_t name parameters;
#include "grader/device_code/cuda_api/include/runtime_functions.def"
#undef RUNTIME_FUNCTION
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
}
