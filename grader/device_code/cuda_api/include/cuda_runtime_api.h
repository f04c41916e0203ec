// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the CUDA 13 runtime's interface that harness and runner use, in our own
/// declarations. They are compiled with this header on every machine, with NVIDIA's toolkit or
/// without, so that a name that is missing here stops the build everywhere. Where a toolkit is,
/// tests/vgpu/runtime/abi_test.cpp holds it against NVIDIA's.
#pragma once

#include <cstddef>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

enum cudaDeviceAttr : int;
enum cudaFuncCache : int;
enum cudaJitOption : int;
enum cudaLibraryOption : int;
enum cudaDriverEntryPointQueryResult : int { cudaDriverEntryPointSuccess = 0 };

#define RUNTIME_CONSTANT(type, name, value) inline constexpr type name = value;
#include "grader/device_code/cuda_api/include/runtime_constants.def"
#undef RUNTIME_CONSTANT

extern "C" {
#define RUNTIME_FUNCTION(name, parameters) cudaError_t name parameters;
#include "grader/device_code/cuda_api/include/runtime_functions.def"
#undef RUNTIME_FUNCTION
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
}
