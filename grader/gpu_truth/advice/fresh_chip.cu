// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The other kernels of fresh.cu: shared and local memory, atomics, barriers.
#include "grader/gpu_truth/advice/fresh.cuh"

// --- shared and local memory, atomics, barriers ------------------------------------------------

/// A·Aᵀ by tiles of 32 × 32. Fault: a pitch of 32 words, and lanes that read a column.
template <u32 kPitch>
__global__ void gram(const float* a, float* out, u32 rows, u32 terms) {
  __shared__ float left[32 * 32], right[32 * kPitch];
  const u32 x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (u32 from = 0; from < terms; from += 32) {
    left[y * 32 + x] = a[(blockIdx.y * 32 + y) * terms + from + x];
    right[y * kPitch + x] = a[(blockIdx.x * 32 + y) * terms + from + x];
    __syncthreads();
#pragma unroll 8
    for (u32 k = 0; k < 32; ++k) sum += left[y * 32 + k] * right[x * kPitch + k];
    __syncthreads();
  }
  out[(blockIdx.y * 32 + y) * rows + blockIdx.x * 32 + x] = sum;
}

/// A filter that keeps one sample in eight. Fault: lanes read every eighth word of shared memory;
/// mended, the eight phases lie apart.
template <bool kPhases>
__global__ void decimate(const float* in, float* out) {
  constexpr u32 kTaps = 128, kPitch = 276, kWords = 256 * 8 + kTaps;  // kPitch % 32 is 20
  __shared__ float samples[8 * kPitch];
  for (u32 i = threadIdx.x; i < kWords; i += 256)
    samples[kPhases ? i % 8 * kPitch + i / 8 : i] = in[blockIdx.x * 2048 + i];
  __syncthreads();
  float sum = 0, weight = 1;
#pragma unroll 1
  for (u32 k = 0; k < kTaps; ++k) {
    sum += weight * samples[kPhases ? k % 8 * kPitch + k / 8 + threadIdx.x : threadIdx.x * 8 + k];
    weight *= 0.98f;
  }
  out[thread_of_grid()] = sum;
}

/// A histogram of 16 bins for each thread. Fault: the bins are an array of the thread; mended,
/// they are in shared memory, a bank a lane.
template <bool kLocal>
__global__ void bins_of_threads(const u32* in, u32* out, u32 rounds) {
  __shared__ u32 shared_bins[kLocal ? 1 : 16 * 256];
  u32 own[16];
  const u32 threads = gridDim.x * blockDim.x;
  for (u32 b = 0; b < 16; ++b)
    if (kLocal)
      own[b] = 0;
    else
      shared_bins[b * 256 + threadIdx.x] = 0;
  for (u32 r = 0; r < rounds; ++r) {
    u32 v[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) v[k] = in[(r * 8 + k) * threads + thread_of_grid()];
#pragma unroll
    for (u32 k = 0; k < 8; ++k)
      if (kLocal)
        ++own[v[k] % 16];
      else
        ++shared_bins[v[k] % 16 * 256 + threadIdx.x];
  }
  for (u32 b = 0; b < 16; ++b)
    out[b * threads + thread_of_grid()] = kLocal ? own[b] : shared_bins[b * 256 + threadIdx.x];
}

/// An echo: each thread's signal with itself of 64 steps ago. Fault: the delay line is an array of
/// the thread; mended, it is in shared memory.
template <bool kLocal>
__global__ void echo(float* out, u32 steps) {
  __shared__ float shared_line[kLocal ? 1 : 64 * 128];
  float own[64];
#pragma unroll 1
  for (u32 k = 0; k < 64; ++k)
    if (kLocal)
      own[k] = static_cast<float>(k);
    else
      shared_line[k * 128 + threadIdx.x] = static_cast<float>(k);
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) {
    const u32 at = k % 64;
    float& slot = kLocal ? own[at] : shared_line[at * 128 + threadIdx.x];
    x = 0.5f * x + 0.25f * slot;
    slot = x;
  }
  out[thread_of_grid()] = x;
}

/// One total of an array. Fault: each thread adds its value to it.
__global__ void total_by_thread(const float* in, float* total) {
  atomicAdd(total, in[thread_of_grid()]);
}

/// The same, a value a block.
__global__ void total_by_block(const float* in, float* total) {
  __shared__ float sums[8];
  const float sum = warp_total(in[thread_of_grid()]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
#pragma unroll
    for (u32 w = 0; w < 8; ++w) all += sums[w];
    atomicAdd(total, all);
  }
}

/// Appends each value none to three times to a ring of n words, a power of two: a kernel that is
/// timed runs often. Fault: each thread asks for its place.
__global__ void append_by_thread(const u32* in, u32* list, u32* length, u32 n) {
  const u32 value = in[thread_of_grid()];
  const u32 copies = value % 4;
  const u32 at = atomicAdd(length, copies);
  for (u32 k = 0; k < copies; ++k) list[(at + k) & (n - 1)] = value;
}

/// The same; the block asks once.
__global__ void append_by_block(const u32* in, u32* list, u32* length, u32 n) {
  __shared__ u32 counts[8], place;
  const u32 value = in[thread_of_grid()];
  const u32 copies = value % 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u32 upto = copies;
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const u32 left = __shfl_up_sync(~0u, upto, d);
    if (lane >= d) upto += left;
  }
  if (lane == 31) counts[warp] = upto;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 all = 0;
#pragma unroll
    for (u32 w = 0; w < 8; ++w) {
      const u32 count = counts[w];
      counts[w] = all;
      all += count;
    }
    place = atomicAdd(length, all);
  }
  __syncthreads();
  const u32 at = place + counts[warp] + upto - copies;
  for (u32 k = 0; k < copies; ++k) list[(at + k) & (n - 1)] = value;
}

/// How often each of four letters is there. Fault: a counter a letter for all of a block's threads;
/// mended, one for each lane's number.
template <u32 kCopies>
__global__ void letters(const u32* in, u32* out) {
  __shared__ u32 counts[4 * kCopies];
  for (u32 i = threadIdx.x; i < 4 * kCopies; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const u32 first = blockIdx.x * blockDim.x * 16 + threadIdx.x;
  u32 v[16];
#pragma unroll
  for (u32 k = 0; k < 16; ++k) v[k] = in[first + k * blockDim.x];
#pragma unroll
  for (u32 k = 0; k < 16; ++k) atomicAdd(&counts[v[k] % 4 * kCopies + threadIdx.x % kCopies], 1u);
  __syncthreads();
  if (threadIdx.x < 4) {
    u32 sum = 0;
    for (u32 c = 0; c < kCopies; ++c)
      sum += counts[threadIdx.x * kCopies + (c + threadIdx.x) % kCopies];
    out[blockIdx.x * 4 + threadIdx.x] = sum;
  }
}

/// Rows of a table, each made by one warp of the block. Fault: a barrier after each row.
template <bool kBarrier>
__global__ void rows_in_turn(float* out, u32 rows, u32 steps) {
  for (u32 r = 0; r < rows; ++r) {
    if (threadIdx.x / 32 == r % 32)
      out[(blockIdx.x * rows + r) * 32 + threadIdx.x % 32] =
          logistic(static_cast<float>(r + threadIdx.x + 1) / 1200.f, steps);
    if (kBarrier) __syncthreads();
  }
}

void on_the_chip(Pairs& pair) {
  const u32 s = pair.scale();
  const u32* in = timed::drawn<u32>((std::size_t{4} << 20) * s);
  const float* floats = timed::drawn<float>((std::size_t{4} << 20) * s);
  u32* out = empty<u32>((std::size_t{4} << 20) * s);
  float* out_floats = reinterpret_cast<float*>(out);
  {
    const u32 rows = 512, terms = 128 * s;
    const dim3 grid(rows / 32, rows / 32), block(32, 32);
    pair(
        "bank-conflicts", "product with its own transpose",
        [=] { gram<32><<<grid, block>>>(floats, out_floats, rows, terms); },
        [=] { gram<33><<<grid, block>>>(floats, out_floats, rows, terms); });
  }
  {
    const u32 blocks = 1024 * s;  // the last block's taps reach past its 2048 words
    pair(
        "bank-conflicts", "filter that keeps one in eight",
        [=] { decimate<false><<<blocks, 256>>>(floats, out_floats); },
        [=] { decimate<true><<<blocks, 256>>>(floats, out_floats); });
  }
  {
    const u32 blocks = 256, rounds = 8 * s;
    pair(
        "local-memory", "bins of a thread in its own array",
        [=] { bins_of_threads<true><<<blocks, 256>>>(in, out, rounds); },
        [=] { bins_of_threads<false><<<blocks, 256>>>(in, out, rounds); });
  }
  {
    const u32 blocks = 1024 * s;
    pair(
        "local-memory", "delay line in a thread's array",
        [=] { echo<true><<<blocks, 128>>>(out_floats, 256); },
        [=] { echo<false><<<blocks, 128>>>(out_floats, 256); });
  }
  {
    const u32 n = (1u << 20) * s;
    pair(
        "same-address-atomics", "total by each thread",
        [=] { total_by_thread<<<n / 256, 256>>>(floats, out_floats); },
        [=] { total_by_block<<<n / 256, 256>>>(floats, out_floats); });
  }
  {
    const u32 n = (1u << 19) * s;
    u32* counts = empty<u32>(2);
    pair(
        "same-address-atomics", "each thread asks for its place",
        [=] { append_by_thread<<<n / 256, 256>>>(in, out, counts, n); },
        [=] { append_by_block<<<n / 256, 256>>>(in, out, counts + 1, n); });
  }
  {
    const u32 n = (4u << 20) * s;
    pair(
        "shared-atomics", "four counters for a block",
        [=] { letters<1><<<n / 4096, 256>>>(in, out); },
        [=] { letters<32><<<n / 4096, 256>>>(in, out); });
  }
  {
    const u32 blocks = 264 * s;
    pair(
        "barriers", "a barrier after each warp's row",
        [=] { rows_in_turn<true><<<blocks, 1024>>>(out_floats, 64, 128); },
        [=] { rows_in_turn<false><<<blocks, 1024>>>(out_floats, 64, 128); });
  }
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  on_the_chip(pair);
  return 0;
}
