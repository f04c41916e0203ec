// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the kernels of fresh*.cu and blind*.cu share.
#pragma once

#include <cmath>
#include <vector>

#include "grader/gpu_truth/advice/pairs.cuh"

using namespace pairs;

template <typename T>
T* uploaded(const std::vector<T>& values) {
  T* d_values = nullptr;
  timed::check(cudaMalloc(&d_values, values.size() * sizeof(T)), "cudaMalloc");
  timed::check(
      cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
      "copy in");
  return d_values;
}

template <typename T>
T* empty(std::size_t count) {
  T* d_values = nullptr;
  timed::check(cudaMalloc(&d_values, count * sizeof(T)), "cudaMalloc");
  timed::check(cudaMemset(d_values, 0, count * sizeof(T)), "cudaMemset");
  return d_values;
}

/// The sum over a warp, in lane 0.
__device__ float warp_total(float x) {
  for (u32 d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

/// The logistic map, `steps` times.
__device__ float logistic(float x, u32 steps) {
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) x = 3.7f * x * (1 - x);
  return x;
}
