// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What cuda12_test.cpp is linked with instead of CUDA 12's runtime, and never run with.
#define ABSENT(name) \
  extern "C" __attribute__((visibility("default"))) void name() { __builtin_trap(); }
ABSENT(cudaGetDeviceProperties_v2)
ABSENT(cudaRuntimeGetVersion)
ABSENT(cudaMalloc)
ABSENT(cudaMallocManaged)
ABSENT(cudaFree)
ABSENT(cudaMemcpy)
ABSENT(cudaMemAdvise)
ABSENT(cudaMemPrefetchAsync)
ABSENT(cudaStreamCreate)
ABSENT(cudaStreamBeginCapture)
ABSENT(cudaStreamGetCaptureInfo_v2)
ABSENT(cudaStreamEndCapture)
ABSENT(cudaMemsetAsync)
ABSENT(cudaGraphGetEdges)
ABSENT(cudaGraphGetEdges_v2)
ABSENT(cudaThreadSynchronize)
ABSENT(cudaLibraryLoadData)
ABSENT(cudaLibraryGetKernel)
ABSENT(cudaLaunchKernel)
ABSENT(cudaGetLastError)
ABSENT(cudaLaunchCooperativeKernelMultiDevice)
