// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Right kernels that look wrong in how they use shared memory: no checker may say a word.
#include "corpus.cuh"

__global__ void two_buffers(int* out, const int* in) {
  __shared__ int tile[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &in[64 * (k + 1) + t], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[64 * k + t] = tile[k % 2][63 - t];
    __syncthreads();
  }
}

__global__ void copies_with_zeros_behind(int* out, const int* in) {
  __shared__ alignas(16) int tile[128];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 16, t < 16 ? 0 : 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[t] = tile[127 - t];
}

__global__ void reads_its_own_copy(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void scan_in_two_buffers(int* out) {
  __shared__ int tile[2][kCount];
  const int t = threadIdx.x;
  int now = 0;
  tile[now][t] = 1;
  for (int by = 1; by < kCount; by *= 2, now ^= 1) {
    __syncthreads();
    tile[now ^ 1][t] = tile[now][t] + (t >= by ? tile[now][t - by] : 0);
  }
  __syncthreads();
  out[t] = tile[now][kCount - 1];
}

__global__ void halo_with_zeros(int* out, const int* in, int n) {
  __shared__ int tile[66];
  const int t = threadIdx.x;
  tile[t + 1] = in[t];
  if (t == 0) tile[0] = 0;
  if (t == 63) tile[65] = t + 1 < n ? in[t + 1] : 0;
  __syncthreads();
  out[t] = tile[t] + tile[t + 2];
}

__global__ void tile_used_again(int* out, const int* in) {
  extern __shared__ char memory[];
  float* const floats = reinterpret_cast<float*>(memory);
  floats[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const float other = floats[63 - threadIdx.x];
  __syncthreads();
  short* const shorts = reinterpret_cast<short*>(memory);
  shorts[threadIdx.x] = static_cast<short>(other);
  __syncthreads();
  out[threadIdx.x] = shorts[threadIdx.x ^ 1];
}

__global__ void barrier_by_whole_warps(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void lanes_leave_late(int* out, int n) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void keeps_bytes_apart(unsigned char* out) {
  __shared__ unsigned char bytes[128];
  bytes[threadIdx.x * 2] = 1;
  bytes[threadIdx.x * 2 + 1] = 2;
  out[threadIdx.x] = bytes[threadIdx.x * 2] + bytes[threadIdx.x * 2 + 1];
}

__global__ void fours_read_together(int* out) {
  __shared__ int4 tile[16];
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 16) tile[threadIdx.x] = make_int4(1, 2, 3, round);
    __syncthreads();
    const int4 mine = tile[threadIdx.x / 4], first = tile[threadIdx.x % 4];
    out[threadIdx.x] = mine.x + mine.w + first.y;
    __syncthreads();
  }
}

// Two arrays in one piece of dynamic memory, a row before and behind each of them.
__global__ void cuts_dynamic_memory_in_two(int* out) {
  extern __shared__ int both[];
  __shared__ int edges[2];
  int* const first = both + 1;
  int* const second = first + 34;
  if (threadIdx.x < 2) edges[threadIdx.x] = 1;
  for (int i = threadIdx.x; i < 70; i += 32) both[i] = i;
  __syncthreads();
  const int t = threadIdx.x;
  out[t] = first[t - 1] + first[t + 1] + second[t - 1] + second[t + 1] + edges[t % 2];
}

void run_case(const char* wanted, Arrays d) {
  RIGHT(two_buffers, two_buffers<<<1, 64>>>(d.out, d.in));
  RIGHT(copies_with_zeros_behind, copies_with_zeros_behind<<<1, 32>>>(d.out, d.in));
  RIGHT(reads_its_own_copy, reads_its_own_copy<<<1, 64>>>(d.out, d.in));
  RIGHT(scan_in_two_buffers, scan_in_two_buffers<<<1, kCount>>>(d.out));
  RIGHT(halo_with_zeros, halo_with_zeros<<<1, 64>>>(d.out, d.in, 64));
  RIGHT(tile_used_again, tile_used_again<<<1, 64, 256>>>(d.out, d.in));
  RIGHT(barrier_by_whole_warps, barrier_by_whole_warps<<<1, 64>>>(d.out));
  RIGHT(lanes_leave_late, lanes_leave_late<<<1, 64>>>(d.out, 40));
  RIGHT(keeps_bytes_apart, keeps_bytes_apart<<<1, 64>>>(reinterpret_cast<unsigned char*>(d.out)));
  RIGHT(fours_read_together, fours_read_together<<<1, 64>>>(d.out));
  RIGHT(cuts_dynamic_memory_in_two, cuts_dynamic_memory_in_two<<<1, 32, 280>>>(d.out));
}
