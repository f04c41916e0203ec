// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies of a large matrix in pieces that lie a row apart: what DRAM takes for them beyond their
/// bytes, by the pieces' width, by the side that has them, and by the order of the blocks.
///
/// A program whose rows tell what DRAM costs beyond its bytes.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;

/// A block of 32 x 8 lanes moves a tile of kWidth x kHeight words, in rows of kWidth; a side that
/// is not in tiles has the same words in a row.
template <int kWidth, int kHeight, bool kReadTiles, bool kWriteTiles, bool kDown>
__global__ void move(float* out, const float* in, u32 pitch) {
  const u32 across = gridDim.x, down = gridDim.y;
  const u32 block = blockIdx.y * across + blockIdx.x;
  const u32 bx = kDown ? block / down : blockIdx.x, by = kDown ? block % down : blockIdx.y;
  const std::size_t tile = (std::size_t{by} * kHeight) * pitch + bx * kWidth;
  const std::size_t line = std::size_t{block} * (kWidth * kHeight);
  constexpr int kEach = kWidth * kHeight / 256;
  float value[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const u32 i = k * 256 + threadIdx.x;
    value[k] = in[kReadTiles ? tile + std::size_t{i / kWidth} * pitch + i % kWidth : line + i];
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const u32 i = k * 256 + threadIdx.x;
    out[kWriteTiles ? tile + std::size_t{i / kWidth} * pitch + i % kWidth : line + i] = value[k];
  }
}

template <int kWidth, int kHeight>
void time_moves(timed::Bench& bench, float* out, const float* in, u32 n, u32 pitch) {
  const dim3 grid(n / kWidth, n / kHeight);
  const std::string of = std::to_string(kWidth) + " x " + std::to_string(kHeight) + " of " +
                         std::to_string(n) + " rows, pitch " + std::to_string(pitch);
#define MOVE(name, read, write, down) \
  bench("tiles", name + of,           \
        [&] { move<kWidth, kHeight, read, write, down><<<grid, 256>>>(out, in, pitch); })
  MOVE("none ", false, false, false);
  MOVE("read ", true, false, false);
  MOVE("written ", false, true, false);
  MOVE("both ", true, true, false);
  MOVE("read down ", true, false, true);
  MOVE("written down ", false, true, true);
#undef MOVE
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  float *out = nullptr, *in = nullptr;
  const std::size_t bytes = std::size_t{16384} * 16512 * 4;
  timed::check(cudaMalloc(&out, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  for (const u32 n : {2048u, 16384u})
    for (const u32 pitch : {n, n + 96}) {
      time_moves<32, 8>(bench, out, in, n, pitch);
      time_moves<32, 32>(bench, out, in, n, pitch);
      time_moves<64, 32>(bench, out, in, n, pitch);
      time_moves<64, 64>(bench, out, in, n, pitch);
      time_moves<128, 32>(bench, out, in, n, pitch);
    }
  return 0;
}
