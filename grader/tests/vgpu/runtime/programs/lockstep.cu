// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Shuffles, votes and matches inside divergent code: the same words whether warps run in lockstep
// or each lane by itself (MEMBOUND_SCHEDULING).
#include "check.cuh"

__global__ void reduce_branches(unsigned* out) {
  const unsigned lane = threadIdx.x % 32, even = 0x55555555u;
  unsigned value = lane;
  if (lane % 2 == 0) {
    for (unsigned step = 2; step < 32; step *= 2) value += __shfl_xor_sync(even, value, step);
  } else {
    for (unsigned step = 2; step < 32; step *= 2) value += __shfl_xor_sync(~even, value, step);
    value += 1000;
  }
  out[threadIdx.x] = value;
}

__global__ void vote_in_a_loop(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  unsigned rounds = 0, ballots = 0;
  while (__any_sync(~0u, rounds < lane)) {
    ballots ^= __ballot_sync(~0u, rounds < lane) * (rounds + 1);
    ++rounds;
  }
  out[threadIdx.x] = ballots ^ rounds;
}

__global__ void groups(unsigned* out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mine = __match_any_sync(~0u, lane % 5);
  unsigned sum = 0;
  if (lane % 5 != 3) sum = __reduce_add_sync(mine, lane);
  __syncwarp();
  out[threadIdx.x] = sum ^ mine << 8;
}

int main() {
  unsigned *d_out, out[64];
  CHECK_CUDA(cudaMalloc(&d_out, sizeof out));
  reduce_branches<<<1, 64>>>(d_out);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) CHECK(out[i] == (i % 2 == 0 ? 240u : 1256u));
  vote_in_a_loop<<<1, 64>>>(d_out);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  unsigned expected = 31;
  for (unsigned round = 0; round < 31; ++round) expected ^= (~0u << (round + 1)) * (round + 1);
  for (const unsigned word : out) CHECK(word == expected);
  groups<<<1, 64>>>(d_out);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 64; ++i) {
    unsigned members = 0, sum = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane % 5 != i % 32 % 5) continue;
      members |= 1u << lane;
      sum += lane;
    }
    CHECK(out[i] == ((i % 32 % 5 == 3 ? 0 : sum) ^ members << 8));
  }
  CHECK_CUDA(cudaFree(d_out));
}
