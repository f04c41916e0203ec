// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kernels that the rules of the guided analysis were written with: a pair for each row of
/// vgpu/counters/rules.def, in its order.
#include "pairs.cuh"

using namespace pairs;

__global__ void copy_in_steps(const int* in, int* out, u32 n) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

/// Block 0 does `first` rounds, the others `rest`.
__global__ void rounds_of_blocks(float* out, u32 first, u32 rest) {
  const u32 i = thread_of_grid();
  out[i] = busy(static_cast<float>(i), blockIdx.x % 64 == 0 ? first : rest);
}

__global__ void rounds(float* out, u32 steps) {
  const u32 i = thread_of_grid();
  out[i] = busy(static_cast<float>(i), steps);
}

template <u32 kSharedBytes>
__global__ void copy_beside_shared(const int* in, int* out) {
  __shared__ int table[kSharedBytes / 4];
  const u32 i = thread_of_grid();
  table[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = table[blockDim.x - 1 - threadIdx.x];
}

template <bool kByLane>
__global__ void two_ways(float* out) {
  const u32 i = thread_of_grid();
  const u32 way = kByLane ? i % 2 : i / 32 % 2;
  float x = static_cast<float>(i);
  if (way == 0) {
    for (u32 k = 0; k < 200; ++k) x = x * 1.01f + 0.25f;
  } else {
    for (u32 k = 0; k < 200; ++k) x = x * 0.99f - 0.25f;
  }
  out[i] = x;
}

__global__ void copy(const int* in, int* out) {
  const u32 i = thread_of_grid();
  out[i] = in[i];
}

/// Words `stride` apart are neighbours; every word is stored once.
__global__ void scattered(const int* in, int* out, u32 n, u32 stride) {
  const u32 i = thread_of_grid();
  const u32 apart = n / stride;
  out[i % apart * stride + i / apart] = in[i];
}

__global__ void first_of_four(const int* in, int* out, u32 stride) {
  const u32 i = thread_of_grid();
  out[i] = in[i * stride];
}

__global__ void fill_from(int* out, u32 first, u32 n) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x) out[first + i] = 7;
}

template <u32 kPitch>
__global__ void columns(const int* in, int* out) {
  __shared__ int tile[32 * kPitch];
  const u32 x = threadIdx.x % 32, y = threadIdx.x / 32, i = thread_of_grid();
  tile[y * kPitch + x] = in[i];
  __syncthreads();
  int sum = 0;
  for (u32 k = 0; k < 32; ++k) sum += tile[x * kPitch + (y + k) % 32];
  out[i] = sum;
}

template <bool kKnown>
__global__ void table_of_eight(const int* in, int* out, u32 turns) {
  const u32 i = thread_of_grid();
  int table[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) table[k] = in[i] + static_cast<int>(k);
  int sum = 0;
  for (u32 turn = 0; turn < turns; ++turn)
    if (kKnown)
      sum += table[3] * static_cast<int>(turn);
    else
      sum += table[(turn * 5 + i) % 8]++;
  out[i] = sum;
}

template <bool kEach>
__global__ void sum_of_all(const float* in, float* sum) {
  float mine = in[thread_of_grid()];
  if constexpr (kEach) {
    atomicAdd(sum, mine);
  } else {
    __shared__ float of_warp[8];
    for (u32 d = 16; d > 0; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (u32 k = 1; k < 8; ++k) mine += of_warp[k];
    atomicAdd(sum, mine);
  }
}

template <bool kEach>
__global__ void sum_of_block(const float* in, float* out, u32 each) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float mine = 0;
  for (u32 k = 0; k < each; ++k) {
    const float x = in[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
    if (kEach)
      atomicAdd(&sum, x);
    else
      mine += x;
  }
  if (!kEach) {
    for (u32 d = 16; d > 0; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sum, mine);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

constexpr u32 kReach = 16;

__global__ void window_from_memory(const int* in, int* out) {
  const u32 i = thread_of_grid();
  int sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < 2 * kReach; ++k) sum += in[i + k];
  out[i] = sum;
}

__global__ void window_from_tile(const int* in, int* out) {
  __shared__ int tile[256 + 2 * kReach];
  const u32 i = thread_of_grid(), t = threadIdx.x;
  tile[t] = in[i];
  if (t < 2 * kReach) tile[256 + t] = in[i + 256];
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < 2 * kReach; ++k) sum += tile[t + k];
  out[i] = sum;
}

template <bool kNeeded>
__global__ void rounds_with_barriers(float* out) {
  const u32 i = thread_of_grid();
  float x = static_cast<float>(i);
#pragma unroll 1
  for (u32 k = 0; k < 64; ++k) {
    x = x * 1.01f + 0.5f;
    if (kNeeded) __syncthreads();
  }
  __syncthreads();
  out[i] = x;
}

template <u32 kTogether>
__global__ void sums_in_steps(const int* in, int* out, u32 n) {
  const u32 step = gridDim.x * blockDim.x;
  int sum = 0;
#pragma unroll 1
  for (u32 i = thread_of_grid(); i < n; i += kTogether * step) {
    int x[kTogether];
#pragma unroll
    for (u32 k = 0; k < kTogether; ++k) x[k] = in[i + k * step];
#pragma unroll
    for (u32 k = 0; k < kTogether; ++k) sum += x[k];
  }
  out[thread_of_grid()] = sum;
}

/// Sums of tiles up to the end of each. In a row each block waits for the sum up to the tile before
/// it; else the blocks before it tell the sums of their tiles first, and it adds up 32 of these at
/// a time. A word has 1 above a tile's sum and 2 above a sum up to its end. `taken` gives the
/// tiles.
template <bool kInARow>
__global__ void sums_of_tiles(const int* in, unsigned long long* words, u32* taken) {
  __shared__ u32 tile;
  if (threadIdx.x == 0) tile = atomicAdd(taken, 1);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  volatile unsigned long long* const word = words;
  const u32 own = __reduce_add_sync(~0u, static_cast<u32>(in[tile * 32 + threadIdx.x]) & 0xff);
  if (!kInARow && threadIdx.x == 0) word[tile] = 1ull << 32 | own;
  u32 before = 0;
  for (int nearest = static_cast<int>(tile) - 1; nearest >= 0; nearest -= 32) {
    const int other = nearest - static_cast<int>(kInARow ? 0 : threadIdx.x);
    unsigned long long state = 0;
    u32 ends = 0, wanted = 0;
    do {
      state = other >= 0 ? word[other] : 2ull << 32;
      ends = __ballot_sync(~0u, state >> 32 == 2);
      wanted = kInARow ? ~0u : ends ^ (ends - 1);
    } while ((__ballot_sync(~0u, state >> 32 < (kInARow ? 2 : 1)) & wanted) != 0);
    if (kInARow) {
      before = static_cast<u32>(state);
      break;
    }
    before +=
        __reduce_add_sync(~0u, (wanted >> threadIdx.x & 1) != 0 ? static_cast<u32>(state) : 0);
    if (ends != 0) break;
  }
  if (threadIdx.x == 0) word[tile] = 2ull << 32 | (before + own);
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  const u32 n = pair.scale() << 19;
  int* in = timed::drawn<int>(4 * n + 1024);
  int* out = timed::drawn<int>(4 * n + 1024);
  auto* f_in = reinterpret_cast<float*>(in);
  auto* f_out = reinterpret_cast<float*>(out);
#define PAIR(rule, name, fault, mended) \
  pair(                                 \
      rule, name, [&] { fault; }, [&] { mended; })

  PAIR("idle-sms", "copy by 16 blocks", (copy_in_steps<<<16, 256>>>(in, out, n)),
       (copy_in_steps<<<1056, 256>>>(in, out, n)));
  PAIR("uneven-blocks", "each 64th block is long",
       (rounds_of_blocks<<<n / 256, 256>>>(f_out, 6500, 100)),
       (rounds_of_blocks<<<n / 256, 256>>>(f_out, 200, 200)));
  PAIR("tail", "one block too many", (rounds<<<265, 1024>>>(f_out, 1000)),
       (rounds<<<264, 1024>>>(f_out, 1000)));
  PAIR("low-occupancy", "tables of 48 KB", (copy_beside_shared<49152><<<n / 128, 128>>>(in, out)),
       (copy_beside_shared<1024><<<n / 128, 128>>>(in, out)));
  PAIR("part-warps", "blocks of 33 threads", (rounds<<<n / 33, 33>>>(f_out, 800)),
       (rounds<<<n / 64, 64>>>(f_out, 800)));
  PAIR("small-blocks", "a block for 32 words", (copy<<<n / 32, 32>>>(in, out)),
       (copy_in_steps<<<1056, 256>>>(in, out, n)));
  PAIR("divergence", "odd lanes go another way", (two_ways<true><<<n / 256, 256>>>(f_out)),
       (two_ways<false><<<n / 256, 256>>>(f_out)));
  PAIR("work-twice", "a grid of four layers", (copy<<<dim3(n / 256, 4), 256>>>(in, out)),
       (copy<<<n / 256, 256>>>(in, out)));
  PAIR("uncoalesced", "words stored 1,024 apart", (scattered<<<n / 256, 256>>>(in, out, n, 1024)),
       (scattered<<<n / 256, 256>>>(in, out, n, 1)));
  PAIR("partial-sectors", "one member of four", (first_of_four<<<n / 256, 256>>>(in, out, 4)),
       (first_of_four<<<n / 256, 256>>>(in, out, 1)));
  PAIR("misaligned", "stores shifted by one word", (fill_from<<<1056, 256>>>(out, 1, 4 * n)),
       (fill_from<<<1056, 256>>>(out, 0, 4 * n)));
  PAIR("bank-conflicts", "columns of 32 words", (columns<32><<<n / 1024, 1024>>>(in, out)),
       (columns<33><<<n / 1024, 1024>>>(in, out)));
  PAIR("local-memory", "an index nobody knows",
       (table_of_eight<false><<<n / 256, 256>>>(in, out, 16)),
       (table_of_eight<true><<<n / 256, 256>>>(in, out, 16)));
  PAIR("same-address-atomics", "a sum that all add to",
       (sum_of_all<true><<<n / 256, 256>>>(f_in, f_out)),
       (sum_of_all<false><<<n / 256, 256>>>(f_in, f_out)));
  PAIR("shared-atomics", "a sum in shared memory",
       (sum_of_block<true><<<n / 1024, 256>>>(f_in, f_out, 4)),
       (sum_of_block<false><<<n / 1024, 256>>>(f_in, f_out, 4)));
  PAIR("redundant-traffic", "a window of 32 words", (window_from_memory<<<n / 256, 256>>>(in, out)),
       (window_from_tile<<<n / 256, 256>>>(in, out)));
  PAIR("barriers", "a barrier each round", (rounds_with_barriers<true><<<n / 1024, 1024>>>(f_out)),
       (rounds_with_barriers<false><<<n / 1024, 1024>>>(f_out)));
  // Each launch clears its words first, which is no part of either side's fault.
  auto* states = reinterpret_cast<unsigned long long*>(out);
  constexpr u32 kTiles = 2048;
  const auto clear = [&] {
    timed::check(cudaMemsetAsync(states, 0, (kTiles + 1) * sizeof *states), "clear");
  };
  auto* taken = reinterpret_cast<u32*>(states + kTiles);
  PAIR("waiting-blocks", "2,048 tiles in a row",
       (clear(), sums_of_tiles<true><<<kTiles, 128>>>(in, states, taken)),
       (clear(), sums_of_tiles<false><<<kTiles, 128>>>(in, states, taken)));
  PAIR("few-bytes-in-flight", "a sum, load by load", (sums_in_steps<1><<<1056, 128>>>(in, out, n)),
       (sums_in_steps<4><<<1056, 128>>>(in, out, n)));
  return 0;
}
