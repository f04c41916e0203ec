// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One mechanism of the clock a group of rows: stores and loads that are scattered, shifted or fill
/// sectors in part, in arrays of several sizes; blocks of which one warp stays; atomics on few
/// words; loads of neighbouring words of shared memory.
///
/// A program whose rows the clock's terms are chosen and its constants fitted with.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;

__device__ u32 me() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Chunks of `words` words, a power of two, in an order that jumps: each of n words once.
__device__ u32 jumping(u32 i, u32 words, u32 n) {
  const u32 chunk = (i / words * 2654435761u) % (n / words);
  return chunk * words + i % words;
}
__global__ void store_jumping(u32* out, u32 words, u32 n, u32 first) {
  out[jumping(me(), words, n) + first] = 7;
}
__global__ void load_jumping(const u32* in, u32* out, u32 words, u32 n) {
  const u32 x = in[jumping(me(), words, n)];
  if (x == 0xffffffff) *out = x;
}
/// Like a table of random places: not each once.
__global__ void load_random(const u32* in, u32* out, u32 mask) {
  u32 h = me() * 2654435761u;
  h ^= h >> 15, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
  const u32 x = in[h & mask];
  if (x == 0xffffffff) *out = x;
}
__global__ void store_random(u32* out, u32 mask) {
  u32 h = me() * 2654435761u;
  h ^= h >> 15, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
  out[h & mask] = 7;
}
__global__ void store_shifted(u32* out, u32 first) { out[me() + first] = 7; }
/// `words` of the eight of each sector.
__global__ void store_part(u32* out, u32 words) {
  if (me() % 8 < words) out[me()] = 7;
}
/// Rows of 32 words, a warp a row, `pitch` words apart.
__global__ void store_rows(u32* out, u32 pitch, u32 first) {
  out[me() / 32 * pitch + first + me() % 32] = 7;
}
/// Only the first `lanes` threads of each block stay, for `steps` dependent steps.
__global__ void few_stay(float* out, u32 lanes, u32 steps) {
  if (threadIdx.x >= lanes) return;
  float x = threadIdx.x;
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) x = x * 1.01f + 0.5f;
  if (x == -1) *out = x;
}
/// One warp of each block works, the same one or another from block to block: are a
/// multiprocessor's four schedulers equally busy?
__global__ void one_warp_works(float* out, u32 turns, u32 steps) {
  if (threadIdx.x / 32 != blockIdx.x / turns % (blockDim.x / 32)) return;
  float x = threadIdx.x, y = 1, z = 2, w = 3;
#pragma unroll 4
  for (u32 k = 0; k < steps; ++k)
    x = x * 1.01f + 0.5f, y = y * 1.01f + 0.5f, z = z * 1.01f + 0.5f, w = w * 1.01f + 0.5f;
  if (x + y + z + w == -1) *out = x;
}
/// Loops whose count is not known: what counting costs beside `kSums` sums.
template <int kSums>
__global__ void counted_loop(float* out, u32 steps) {
  float x[kSums];
  for (int i = 0; i < kSums; ++i) x[i] = threadIdx.x + i;
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k)
#pragma unroll
    for (int i = 0; i < kSums; ++i) x[i] = x[i] * 1.01f + 0.5f;
  float sum = 0;
  for (int i = 0; i < kSums; ++i) sum += x[i];
  if (sum == -1) *out = sum;
}
template <typename T>
__global__ void add_to_random(T* words, u32 count, u32 rounds) {
  u32 h = me() * 2654435761u;
  for (u32 k = 0; k < rounds; ++k) {
    h ^= h >> 15, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
    atomicAdd(&words[h % count], T(1));
  }
}
/// Neighbouring words of shared memory, one for all lanes: ptxas makes vectors of them.
template <int kWords>
__global__ void shared_row(float* out, u32 rounds) {
  __shared__ float rows[64][kWords];
  for (u32 i = threadIdx.x; i < 64 * kWords; i += blockDim.x) rows[0][i] = i;
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < kWords; ++k) sum += rows[(threadIdx.x / 32 + r) % 64][k];
  out[me()] = sum;
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  const u32 most = 1u << 28;  // 1 GiB
  u32* words = nullptr;
  timed::check(cudaMalloc(&words, (std::size_t{most} + 4096) * 4), "cudaMalloc");
  timed::check(cudaMemset(words, 0, (std::size_t{most} + 4096) * 4), "cudaMemset");
  auto* floats = reinterpret_cast<float*>(words);
#define TIME(group, name, ...) bench(group, name, [&] { __VA_ARGS__; })
  const auto text = [](u32 value) { return std::to_string(value); };

  for (const u32 mib : {4u, 16u, 32u, 64u, 256u, 1024u}) {
    const u32 n = mib << 18;
    const std::string size = " of " + text(mib) + " MiB";
    for (const u32 chunk : {1u, 4u, 8u, 16u, 32u}) {
      TIME("store jumping", text(chunk) + size,
           store_jumping<<<n / 256, 256>>>(words, chunk, n, 0));
      TIME("load jumping", text(chunk) + size,
           load_jumping<<<n / 256, 256>>>(words, words, chunk, n));
    }
    TIME("store jumping", "8 shifted by 4" + size, store_jumping<<<n / 256, 256>>>(words, 8, n, 4));
    TIME("store jumping", "32 shifted by 4" + size,
         store_jumping<<<n / 256, 256>>>(words, 32, n, 4));
    TIME("load random", "4 Mi loads" + size, load_random<<<16384, 256>>>(words, words, n - 1));
    TIME("store random", "4 Mi stores" + size, store_random<<<16384, 256>>>(words, n - 1));
    for (const u32 first : {0u, 1u, 4u})
      TIME("store shifted", "by " + text(first) + size,
           store_shifted<<<n / 256, 256>>>(words, first));
    for (const u32 part : {1u, 2u, 4u, 7u})
      TIME("store part", text(part) + size, store_part<<<n / 256, 256>>>(words, part));
    const u32 rows = n / 64;
    TIME("store rows", "48 apart, 0 late" + size, store_rows<<<rows / 8, 256>>>(words, 48, 0));
    TIME("store rows", "48 apart, 5 late" + size, store_rows<<<rows / 8, 256>>>(words, 48, 5));
  }
  for (const u32 threads : {32u, 64u, 128u, 256u, 512u, 1024u})
    for (const u32 lanes : {1u, 32u, 64u})
      if (lanes <= threads)
        TIME("few stay", text(lanes) + " of " + text(threads),
             few_stay<<<132 * 128, threads>>>(floats, lanes, 4000));
  for (const u32 turns : {1u, 132u, 1u << 20})
    TIME("one warp works", "another each " + text(turns),
         one_warp_works<<<132 * 32, 256>>>(floats, turns, 2000));
  for (const u32 blocks : {132u, 528u, 1056u, 2112u}) {
    const std::string by = " sums, blocks " + text(blocks);
    TIME("counted loop", "1" + by, counted_loop<1><<<blocks, 256>>>(floats, 4000));
    TIME("counted loop", "2" + by, counted_loop<2><<<blocks, 256>>>(floats, 4000));
    TIME("counted loop", "4" + by, counted_loop<4><<<blocks, 256>>>(floats, 4000));
    TIME("counted loop", "8" + by, counted_loop<8><<<blocks, 256>>>(floats, 4000));
  }
  for (const u32 count : {1u, 8u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 8192u, 65536u}) {
    TIME("add random", "int " + text(count), add_to_random<<<1024, 256>>>(words, count, 4));
    TIME("add random", "float " + text(count), add_to_random<<<1024, 256>>>(floats, count, 4));
  }
  TIME("shared row", "4 words", shared_row<4><<<264, 1024>>>(floats, 256));
  TIME("shared row", "32 words", shared_row<32><<<264, 1024>>>(floats, 32));
  return 0;
}
