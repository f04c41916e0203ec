// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Blocks of 8, 16 or 32 warps that load at once, and those that copy: words in a row, or a tile
/// whose rows lie 64 KiB apart, each of so many lines. 16 MiB, of which all fits L2, and 256 MiB.
///
/// A program whose rows tell what a block waits for that loads in several places at once, and what
/// loads wait for writes.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

constexpr int kPitch = 16384;  // words
enum Kind { kLoad, kCopy, kCopyBehindBarrier };

/// A block loads kWarps * kLoads lines: in rows of kLines lines, or all in one row (0).
template <int kWarps, int kLoads, int kLines, Kind kKind>
__global__ void move(int* out, const int* in) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::size_t at, step;
  if constexpr (kLines == 0) {
    at = blockIdx.x * std::size_t{kWarps * kLoads * 32} + threadIdx.x;
    step = kWarps * 32;
  } else {
    const int row = blockIdx.y * (kWarps * kLoads / kLines) + warp / kLines;
    at = std::size_t(row) * kPitch + blockIdx.x * (32 * kLines) + warp % kLines * 32 + lane;
    step = std::size_t{kWarps / kLines} * kPitch;
  }
  int value[kLoads], sum = 0;
#pragma unroll
  for (int i = 0; i < kLoads; ++i) value[i] = in[at + i * step];
  if constexpr (kKind == kCopyBehindBarrier) __syncthreads();
  if constexpr (kKind == kLoad) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) sum += value[i];
    if (sum == 0x7fffffff) *out = sum;
  } else {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) out[at + i * step] = value[i];
  }
}

template <int kWarps, int kLoads, int kLines, Kind kKind>
void time_one(timed::Bench& bench, int* out, const int* in, int rows) {
  constexpr const char* kNames[] = {"load", "copy", "barrier"};
  constexpr int kEach = kWarps * kLoads;  // lines
  const std::size_t words = std::size_t(rows) * kPitch;
  const dim3 tiles(kPitch / 32 / (kLines ? kLines : 1), rows / (kEach / (kLines ? kLines : 1)));
  const dim3 grid = kLines == 0 ? dim3(words / 32 / kEach) : tiles;
  bench(kNames[kKind],
        std::to_string(kWarps) + " warps " + std::to_string(kLoads) + " loads " +
            (kLines ? "rows of " + std::to_string(kLines) : "in a row") + " of " +
            std::to_string(words >> 20) + " Mi",
        [&] { move<kWarps, kLoads, kLines, kKind><<<grid, kWarps * 32>>>(out, in); });
}

template <int kWarps, int kLoads, Kind kKind>
void time_both(timed::Bench& bench, int* out, const int* in, int rows) {
  time_one<kWarps, kLoads, 0, kKind>(bench, out, in, rows);
  time_one<kWarps, kLoads, 1, kKind>(bench, out, in, rows);
}

template <Kind kKind>
void time_blocks(timed::Bench& bench, int* out, const int* in, int rows) {
  time_both<8, 1, kKind>(bench, out, in, rows);
  time_both<16, 1, kKind>(bench, out, in, rows);
  time_both<32, 1, kKind>(bench, out, in, rows);
  time_both<8, 2, kKind>(bench, out, in, rows);
  time_both<16, 2, kKind>(bench, out, in, rows);
  time_both<32, 2, kKind>(bench, out, in, rows);
  time_both<8, 4, kKind>(bench, out, in, rows);
  time_both<32, 4, kKind>(bench, out, in, rows);
}

template <Kind kKind>
void time_widths(timed::Bench& bench, int* out, const int* in, int rows) {
  time_one<32, 1, 2, kKind>(bench, out, in, rows);
  time_one<32, 1, 4, kKind>(bench, out, in, rows);
  time_one<32, 1, 8, kKind>(bench, out, in, rows);
  time_one<32, 1, 16, kKind>(bench, out, in, rows);
  time_one<32, 1, 32, kKind>(bench, out, in, rows);
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  int *in = nullptr, *out = nullptr;
  constexpr int kRows = 4096, kFewRows = 256;
  const std::size_t bytes = std::size_t{kPitch} * kRows * sizeof(int);
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&out, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  for (const int rows : {kRows, kFewRows}) {
    time_blocks<kLoad>(bench, out, in, rows);
    time_blocks<kCopy>(bench, out, in, rows);
    time_blocks<kCopyBehindBarrier>(bench, out, in, rows);
  }
  time_widths<kLoad>(bench, out, in, kRows);
  time_widths<kCopy>(bench, out, in, kRows);
  return 0;
}
