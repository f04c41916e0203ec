// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What CUDA 13's libraries do by bulk copies (cp.async.bulk with an mbarrier) on sm_90: a transform
// of two inputs, in all alignments.
#include <thrust/device_vector.h>
#include <thrust/transform.h>

#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>
#include <vector>

#include "check.cuh"

struct Mix {
  __host__ __device__ float operator()(float a, float b) const { return a * 2 + b; }
};

int main() {
  constexpr int kMost = 20'011;
  std::vector<float> a(kMost), b(kMost), out(kMost);
  for (int i = 0; i < kMost; ++i) a[i] = i % 1021, b[i] = i % 509 - 100;
  const thrust::device_vector<float> d_a(a.begin(), a.end()), d_b(b.begin(), b.end());
  for (const int count : {1, 33, 4096, kMost - 3}) {
    for (const int skipped : {0, 1, 3}) {
      const auto from_a = d_a.begin() + skipped, from_b = d_b.begin();
      std::vector<float> expected(count);
      for (int i = 0; i < count; ++i) expected[i] = Mix()(a[i + skipped], b[i]);
      const auto is_right = [&](const thrust::device_vector<float>& d_out) {
        out.resize(count);
        thrust::copy(d_out.begin(), d_out.begin() + count, out.begin());
        return out == expected;
      };
      thrust::device_vector<float> d_out(kMost);
      thrust::transform(from_a, from_a + count, from_b, d_out.begin(), Mix());
      CHECK(is_right(d_out));
      thrust::fill(d_out.begin(), d_out.end(), 0.0f);
      CHECK_CUDA(cub::DeviceTransform::Transform(cuda::std::make_tuple(from_a, from_b),
                                                 d_out.begin(), count, Mix()));
      CHECK(is_right(d_out));
    }
  }
  CHECK_CUDA(cudaDeviceSynchronize());
}
