// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A third set of thirty kernels with one planted fault each, here, in blind_memory.cu and in
/// blind_chip.cu, each with the rule that is expected: written before five rules were mended after
/// fresh*.cu, run once when they were, and not changed since.
#include "grader/gpu_truth/advice/fresh.cuh"

/// Where the Collatz walk of each number is after `steps`. Fault: 16 blocks for all numbers.
__global__ void collatz(u32* out, u32 n, u32 steps) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x) {
    u32 x = i + 1;
#pragma unroll 1
    for (u32 k = 0; k < steps; ++k) x = (x & 1) != 0 ? 3 * x + 1 : x / 2;
    out[i] = x;
  }
}

/// A scalar product, a part for each block. Fault: 33 blocks.
__global__ void scalar_product(const float* a, const float* b, float* out, u32 n) {
  const u32 step = gridDim.x * blockDim.x;
  float sum = 0;
  for (u32 i = thread_of_grid(); i < n; i += 4 * step) {
    float x[4], y[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) x[k] = a[i + k * step], y[k] = b[i + k * step];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) sum += x[k] * y[k];
  }
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) out[thread_of_grid() / 32] = sum;
}

/// Keys stretched by as many rounds of a hash as their group asks for, a block a group. Fault: one
/// group in 44 asks for forty times as many.
__global__ void stretched_keys(const u32* rounds, u32* out) {
  const u32 n = rounds[blockIdx.x];
  u32 key = thread_of_grid() + 1;
#pragma unroll 1
  for (u32 k = 0; k < n; ++k) {
    key ^= key >> 16;
    key *= 0x7feb352du;
  }
  out[thread_of_grid()] = key;
}

/// The potential of each particle among those of its cell, a block a cell. Fault: one cell in 33
/// holds four times as many particles as the rest.
__global__ void potentials(const float* places, const u32* counts, float* out) {
  __shared__ float cell[512];
  const u32 count = counts[blockIdx.x];
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) cell[i] = places[blockIdx.x * 512 + i];
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
    const float mine = cell[i];
    float sum = 0;
#pragma unroll 4
    for (u32 j = 0; j < count; ++j) sum += (cell[j] - mine) * (cell[j] - mine);
    out[blockIdx.x * 512 + i] = sum;
  }
}

/// Points of a square that lie in its circle. Fault: 136 blocks on 132 multiprocessors.
__global__ void points_in_circle(u32* out, u32 draws) {
  u32 state = thread_of_grid() * 747796405u + 1;
  u32 hits = 0;
#pragma unroll 1
  for (u32 k = 0; k < draws; ++k) {
    state = state * 747796405u + 2891336453u;
    const float x = static_cast<float>(state >> 16) / 65536.0f;
    const float y = static_cast<float>(state & 0xffff) / 65536.0f;
    hits += x * x + y * y < 1 ? 1 : 0;
  }
  out[thread_of_grid()] = hits;
}

/// Weeks and days of day numbers. Fault: a block a warp.
__global__ void weeks(u32* out) {
  const u32 day = thread_of_grid();
  out[day] = day / 7 * 10 + day % 7;
}

/// Ways down a tree of nodes with 32 keys, a warp a search, four after each other. Fault: 100 KB
/// of shared memory are asked for that nobody uses.
__global__ void tree_search(const u32* keys, u32* out, u32 levels) {
  const u32 lane = threadIdx.x % 32;
  u32 wanted = (thread_of_grid() / 32 + 1) * 2654435761u;
  u32 found = 0;
  for (u32 search = 0; search < 4; ++search) {
    u32 node = 0;
#pragma unroll 1
    for (u32 level = 0; level < levels; ++level) {
      const u32 key = keys[node * 32 + lane];
      node = node * 32 + __popc(__ballot_sync(~0u, key < wanted));
      wanted = wanted << 5 | wanted >> 27;
    }
    found += node;
  }
  out[thread_of_grid()] = found;
}

/// Where the twelve atoms of each molecule are after some steps, a thread an atom. Fault: a block a
/// molecule; mended, eight molecules a block.
__global__ void molecules(float* out, u32 steps) {
  __shared__ float places[96];
  const u32 first = threadIdx.x / 12 * 12;
  float mine = static_cast<float>(thread_of_grid() % 12) * 0.25f;
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    places[threadIdx.x] = mine;
    __syncthreads();
    float pull = 0;
#pragma unroll
    for (u32 k = 0; k < 12; ++k) pull += fmaxf(0.1f, fabsf(places[first + k] - mine));
    __syncthreads();
    mine = fmaf(pull, 0.001f, mine);
  }
  out[thread_of_grid()] = mine;
}

/// Distances to four kinds of shapes, by marching. Fault: neighbouring lanes have different kinds.
template <bool kByLane>
__global__ void shapes(float* out, u32 steps) {
  const u32 i = thread_of_grid();
  float x = static_cast<float>(i % 1024) * 0.01f;
  switch ((kByLane ? i : i / 32 + i / 256) % 4) {
    case 0:
#pragma unroll 1
      for (u32 k = 0; k < steps; ++k) x = fmaf(x, 0.9f, 0.1f);
      break;
    case 1:
#pragma unroll 1
      for (u32 k = 0; k < steps; ++k) x = fabsf(x - 0.3f) * 0.7f;
      break;
    case 2:
#pragma unroll 1
      for (u32 k = 0; k < steps; ++k) x = fmaxf(x * 0.8f, 0.2f) + 0.01f;
      break;
    default:
#pragma unroll 1
      for (u32 k = 0; k < steps; ++k) x = fminf(x * 1.1f, 2.0f) - 0.05f;
  }
  out[i] = x;
}

/// A picture of which one pixel in eight is lit and must be computed. Fault: every eighth pixel is;
/// mended, every eighth group of 32.
template <bool kScattered>
__global__ void lit_pixels(float* out, u32 steps) {
  const u32 i = thread_of_grid();
  const u32 warp = i / 32;
  const bool lit = kScattered ? i % 8 == 0 : (warp + warp / 8) % 8 == 0;
  float x = 0;
  if (lit) x = logistic(static_cast<float>(i % 1000) / 1001.0f, steps);
  out[i] = x;
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  const u32 s = pair.scale();
  float* out = empty<float>((std::size_t{5} << 20) * s);
  u32* words = reinterpret_cast<u32*>(out);
  {
    const u32 n = 65536 * s;
    pair(
        "idle-sms", "Collatz walks by 16 blocks", [=] { collatz<<<16, 256>>>(words, n, 200); },
        [=] { collatz<<<n / 256, 256>>>(words, n, 200); });
  }
  {
    const u32 n = 264 * 1024 * 8 * s;
    const float *a = timed::drawn<float>(n), *b = timed::drawn<float>(n);
    pair(
        "idle-sms", "scalar product by 33 blocks",
        [=] { scalar_product<<<33, 1024>>>(a, b, out, n); },
        [=] { scalar_product<<<264, 1024>>>(a, b, out, n); });
  }
  {
    std::vector<u32> uneven(1056), even(1056, 190 * s);
    for (u32 b = 0; b < 1056; ++b) uneven[b] = (b % 44 == 7 ? 4000 : 100) * s;
    const u32 *d_uneven = uploaded(uneven), *d_even = uploaded(even);
    pair(
        "uneven-blocks", "keys of forty times the cost",
        [=] { stretched_keys<<<1056, 256>>>(d_uneven, words); },
        [=] { stretched_keys<<<1056, 256>>>(d_even, words); });
  }
  {
    const u32 cells = 528 * s;
    std::vector<u32> uneven(cells, 128), even(cells, 160);
    for (u32 c = 0; c < cells; c += 33) uneven[c] = 512;
    const float* places = timed::drawn<float>(std::size_t{cells} * 512);
    const u32 *d_uneven = uploaded(uneven), *d_even = uploaded(even);
    pair(
        "uneven-blocks", "cells of 512 particles among those of 128",
        [=] { potentials<<<cells, 128>>>(places, d_uneven, out); },
        [=] { potentials<<<cells, 128>>>(places, d_even, out); });
  }
  pair(
      "tail", "points in a circle by 136 blocks",
      [=] { points_in_circle<<<136, 1024>>>(words, 66 * s); },
      [=] { points_in_circle<<<132, 1024>>>(words, 68 * s); });
  {
    const u32 n = (4u << 20) * s;
    pair(
        "small-blocks", "weeks by blocks of a warp", [=] { weeks<<<n / 32, 32>>>(words); },
        [=] { weeks<<<n / 256, 256>>>(words); });
  }
  {
    std::vector<u32> keys((1 + 32 + 1024 + 32768) * 32);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<u32>(i % 32) << 27;
    const u32* d_keys = uploaded(keys);
    timed::check(
        cudaFuncSetAttribute(tree_search, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10),
        "attribute");
    const u32 blocks = 2112 * s;
    pair(
        "low-occupancy", "searches in a tree beside unused shared memory",
        [=] { tree_search<<<blocks, 128, 100 << 10>>>(d_keys, words, 4); },
        [=] { tree_search<<<blocks, 128>>>(d_keys, words, 4); });
  }
  pair(
      "part-warps", "a block for each molecule of twelve atoms",
      [=] { molecules<<<8448 * s, 12>>>(out, 16); }, [=] { molecules<<<1056 * s, 96>>>(out, 16); });
  pair(
      "divergence", "four shapes side by side", [=] { shapes<true><<<528 * s, 256>>>(out, 128); },
      [=] { shapes<false><<<528 * s, 256>>>(out, 128); });
  pair(
      "divergence", "one lit pixel in eight",
      [=] { lit_pixels<true><<<1056 * s, 256>>>(out, 256); },
      [=] { lit_pixels<false><<<1056 * s, 256>>>(out, 256); });
  return 0;
}
