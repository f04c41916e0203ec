// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// The libraries a CUDA program reaches for first: CUB's device-wide algorithms and Thrust.
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/reverse.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "check.cuh"

/// Calls a CUB algorithm twice: for the size of its scratch memory, then for its work.
template <typename Algorithm>
void with_scratch(Algorithm algorithm) {
  void* d_scratch = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(algorithm(d_scratch, bytes));
  CHECK_CUDA(cudaMalloc(&d_scratch, bytes));
  CHECK_CUDA(algorithm(d_scratch, bytes));
  CHECK_CUDA(cudaFree(d_scratch));
}

int main() {
  constexpr int kCount = 100'003;  // no multiple of any tile
  std::vector<int> in(kCount), out(kCount), expected(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = (i * 7919u + 13) % 100'019 - 5000;
  const int sum = std::accumulate(in.begin(), in.end(), 0);
  thrust::device_vector<int> d_in(in.begin(), in.end()), d_out(kCount);
  int* from = thrust::raw_pointer_cast(d_in.data());
  int* to = thrust::raw_pointer_cast(d_out.data());
  const auto fetch = [&] { thrust::copy(d_out.begin(), d_out.end(), out.begin()); };

  with_scratch([&](void* s, size_t& b) { return cub::DeviceReduce::Sum(s, b, from, to, kCount); });
  CHECK(d_out[0] == sum);
  with_scratch(
      [&](void* s, size_t& b) { return cub::DeviceScan::InclusiveSum(s, b, from, to, kCount); });
  fetch();
  std::partial_sum(in.begin(), in.end(), expected.begin());
  CHECK(out == expected);
  with_scratch(
      [&](void* s, size_t& b) { return cub::DeviceRadixSort::SortKeys(s, b, from, to, kCount); });
  fetch();
  expected = in;
  std::sort(expected.begin(), expected.end());
  CHECK(out == expected);

  thrust::sort(d_in.begin(), d_in.end());
  CHECK(thrust::reduce(d_in.begin(), d_in.end()) == sum);
  thrust::reverse_copy(d_in.begin(), d_in.end(), d_out.begin());
  fetch();
  std::reverse(expected.begin(), expected.end());
  CHECK(out == expected);
  CHECK_CUDA(cudaDeviceSynchronize());
}
