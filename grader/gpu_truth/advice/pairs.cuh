// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pairs of kernels: one with a fault that the guided analysis has a rule for, one that does the
/// same without it. Programs print a line a kernel, `rule,name / fault,µs` and `…/ mended,µs`. On
/// the virtual GPU (`--once`) launch i of the counters file is that of line i.
/// `--scale N` makes the arrays N times as large, for a GPU.
#pragma once

#include <cstring>

#include "grader/vgpu/calibration/timed.cuh"

namespace pairs {

using u32 = unsigned;

/// Times both kernels of a pair as timed::Bench does.
class Pairs {
 public:
  Pairs(int argc, char** argv) : bench_(argc, argv) {
    for (int i = 1; i + 1 < argc; ++i)
      if (std::strcmp(argv[i], "--scale") == 0) scale_ = std::strtoul(argv[i + 1], nullptr, 10);
  }
  [[nodiscard]] u32 scale() const { return scale_; }

  template <typename Faulty, typename Mended>
  void operator()(const char* rule, const std::string& name, Faulty&& faulty, Mended&& mended) {
    bench_(rule, name + " / fault", faulty);
    bench_(rule, name + " / mended", mended);
  }

 private:
  timed::Bench bench_;
  u32 scale_ = 1;
};

/// The thread's number in the grid.
__device__ inline u32 thread_of_grid() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Arithmetic that keeps an SM busy: `steps` dependent multiply-adds.
__device__ inline float busy(float x, u32 steps) {
  for (u32 i = 0; i < steps; ++i) x = x * 1.0001f + 0.5f;
  return x;
}

}  // namespace pairs
