// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tiles that come through shared memory, one after the other: fetched when the last one is done,
/// or into registers while it is worked on. By how much is computed with each, how many blocks a
/// multiprocessor holds, and where the tiles come from.
///
/// A program whose rows tell how waiting overlaps with a warp's own work.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;
constexpr int kThreads = 256;

/// Each block goes through `tiles` tiles of 256 vectors; with each it does kWork rounds of one
/// load from the tile and four products.
template <int kWork, bool kAhead>
__global__ void __launch_bounds__(kThreads)
    walk(float* out, const float4* in, u32 tiles, u32 mask) {
  extern __shared__ float4 tile[];
  const u32 first = blockIdx.x * kThreads * tiles + threadIdx.x;
  float x = 1, y = 2, z = 3, w = 4;
  float4 next = in[first & mask];
#pragma unroll 1
  for (u32 t = 0; t < tiles; ++t) {
    if (!kAhead && t > 0) next = in[(first + t * kThreads) & mask];
    tile[threadIdx.x] = next;
    __syncthreads();
    if (kAhead && t + 1 < tiles) next = in[(first + (t + 1) * kThreads) & mask];
#pragma unroll
    for (int k = 0; k < kWork; ++k) {
      const float4 a = tile[(threadIdx.x + k) % kThreads];
      x += x * a.x, y += y * a.y, z += z * a.z, w += w * a.w;
    }
    __syncthreads();
  }
  if (x + y + z + w == -1) out[0] = x;
}

template <int kWork>
void time_walks(timed::Bench& bench, float* out, const float4* in, u32 per_sm, u32 mib) {
  const u32 mask = (mib << 16) - 1, tiles = 64;
  const std::size_t shared = per_sm == 8 ? 4096 : (std::size_t{200} << 10) / per_sm;
  const std::string name = std::to_string(kWork) + " rounds, " + std::to_string(per_sm) +
                           " blocks, " + std::to_string(mib) + " MiB";
  const auto set = [&](auto kernel) {
    timed::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(shared)),
                 "attribute");
  };
  set(walk<kWork, false>);
  set(walk<kWork, true>);
  bench("fetch when done", name,
        [&] { walk<kWork, false><<<132 * per_sm, kThreads, shared>>>(out, in, tiles, mask); });
  bench("fetch ahead", name,
        [&] { walk<kWork, true><<<132 * per_sm, kThreads, shared>>>(out, in, tiles, mask); });
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  float* out = nullptr;
  float4* in = nullptr;
  const std::size_t bytes = std::size_t{512} << 20;
  timed::check(cudaMalloc(&out, 256), "cudaMalloc");
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  for (const u32 mib : {4u, 512u})
    for (const u32 per_sm : {1u, 2u, 4u, 8u}) {
      time_walks<1>(bench, out, in, per_sm, mib);
      time_walks<8>(bench, out, in, per_sm, mib);
      time_walks<32>(bench, out, in, per_sm, mib);
      time_walks<128>(bench, out, in, per_sm, mib);
    }
  return 0;
}
