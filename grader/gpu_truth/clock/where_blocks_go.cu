// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// On which multiprocessor each block of a grid runs, a line a grid: `BLOCKS x THREADS,SM,SM,…`.
/// The clock's block scheduler dispatches blocks as an H200 was seen to.
#include "grader/vgpu/calibration/timed.cuh"

/// Long enough that the grid's first blocks are all there before one ends.
__global__ void where(unsigned* sm, int steps) {
  unsigned mine = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(mine));
  float x = threadIdx.x;
#pragma unroll 1
  for (int k = 0; k < steps; ++k) x = x * 1.01f + 0.5f;
  if (threadIdx.x == 0) sm[blockIdx.x] = x == -1 ? 0 : mine;
}

int main() {
  constexpr unsigned kMost = 4224;
  unsigned* d_sm = nullptr;
  timed::check(cudaMalloc(&d_sm, kMost * sizeof(unsigned)), "cudaMalloc");
  const struct {
    unsigned blocks, threads;
  } grids[] = {{132, 512}, {264, 1024}, {528, 256}, {1056, 256}, {2112, 128}, {kMost, 64}};
  for (const auto& grid : grids) {
    where<<<grid.blocks, grid.threads>>>(d_sm, 20000);
    std::vector<unsigned> sm(grid.blocks);
    timed::check(cudaMemcpy(sm.data(), d_sm, sm.size() * sizeof(unsigned), cudaMemcpyDeviceToHost),
                 "copy out");
    std::printf("%u x %u", grid.blocks, grid.threads);
    for (const unsigned each : sm) std::printf(",%u", each);
    std::printf("\n");
  }
  return 0;
}
