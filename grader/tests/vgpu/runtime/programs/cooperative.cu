// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Cooperative groups: a barrier over the whole grid, as large as fits and not larger.
#include <cooperative_groups.h>

#include "check.cuh"

namespace cg = cooperative_groups;

__global__ void rotate(int* data, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int n = static_cast<int>(grid.size());
  const int me = static_cast<int>(grid.thread_rank());
  for (int i = 0; i < rounds; ++i) {
    const int value = data[(me + 1) % n];
    grid.sync();
    data[me] = value;
    grid.sync();
  }
}

int main() {
  constexpr int kBlocks = 8, kThreads = 64, kRounds = 5;
  int host[kBlocks * kThreads];
  for (int i = 0; i < kBlocks * kThreads; ++i) host[i] = i;
  int* d_data;
  CHECK_CUDA(cudaMalloc(&d_data, sizeof host));
  CHECK_CUDA(cudaMemcpy(d_data, host, sizeof host, cudaMemcpyHostToDevice));
  int rounds = kRounds;
  void* arguments[] = {&d_data, &rounds};
  CHECK_CUDA(cudaLaunchCooperativeKernel(rotate, kBlocks, kThreads, arguments));
  CHECK_CUDA(cudaMemcpy(host, d_data, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kBlocks * kThreads; ++i)
    CHECK(host[i] == (i + kRounds) % (kBlocks * kThreads));

  int per_sm = 0, sms = 0;
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, rotate, 1024, 0));
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK_FAILS(cudaErrorCooperativeLaunchTooLarge,
              cudaLaunchCooperativeKernel(rotate, per_sm * sms + 1, 1024, arguments));
}
