// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Thirty more kernels with one planted fault each, here, in fresh_memory.cu and in
/// fresh_chip.cu: written from the list of rules alone, without a look at the rules' code or the
/// other pairs, and with the expected rule written down before the first run. None was changed
/// after it.
#include "grader/gpu_truth/advice/fresh.cuh"

// --- blocks and warps -------------------------------------------------------------------------

/// Orbits of many starting points. Fault: 8 blocks for all of them.
__global__ void orbits(float* out, u32 n, u32 steps) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x)
    out[i] = logistic(static_cast<float>(i + 1) / static_cast<float>(n + 2), steps);
}

/// Sums of columns, a thread a column. Fault: one block a 256 columns has all rows (gridDim.y 1).
__global__ void column_sums(const float* m, float* out, u32 rows, u32 columns) {
  const u32 c = thread_of_grid();
  const u32 each = rows / gridDim.y;
  const float* p = m + std::size_t{blockIdx.y} * each * columns + c;
  float sum = 0;
  for (u32 r = 0; r < each; r += 8) {
    float v[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) v[k] = p[std::size_t{r + k} * columns];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) sum += v[k];
  }
  atomicAdd(&out[c], sum);
}

/// An integral of x² for each block's interval, with a number of steps of its own. Fault: a few
/// intervals take far more steps than the rest.
__global__ void integrals(const u32* steps, float* out) {
  const u32 n = steps[blockIdx.x];
  float x = static_cast<float>(threadIdx.x) * 0.01f;
  float sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < n; ++k) {
    sum += x * x;
    x += 0.001f;
  }
  out[thread_of_grid()] = sum;
}

/// Rows of a picture, each with a depth of its own. Fault: neighbouring rows, which are alike in
/// depth, go to the same block.
template <bool kNeighbours>
__global__ void picture(const u32* depths, float* out, u32 rows) {
  const u32 each = rows / gridDim.x;
  for (u32 k = 0; k < each; ++k) {
    const u32 row = kNeighbours ? blockIdx.x * each + k : k * gridDim.x + blockIdx.x;
    out[row * blockDim.x + threadIdx.x] =
        logistic(static_cast<float>(threadIdx.x + 1) / 1030.f, depths[row]);
  }
}

/// A response for each item, looked up in a table that fills half of shared memory. Fault: twelve
/// blocks more than there are multiprocessors.
__global__ void responses(float* out, u32 n, u32 steps) {
  extern __shared__ float table[];
  table[threadIdx.x] = 1.0f / static_cast<float>(threadIdx.x + 2);
  __syncthreads();
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x)
    out[i] = logistic(table[threadIdx.x], steps);
}

/// Squares of numbers. Fault: a block a warp.
__global__ void squares(u32* out) {
  const u32 i = thread_of_grid();
  out[i] = i * i;
}

/// Walks through a ring of 4096 words in shared memory, each lane in its own bank. Fault: far more
/// shared memory is asked for than is used, so one block of two warps has a multiprocessor.
__global__ void ring_walk(u32* out, u32 steps) {
  extern __shared__ u32 next[];
  for (u32 i = threadIdx.x; i < 4096; i += blockDim.x)
    next[i] = (i + 32 * (1 + (i * 2654435761u >> 25))) % 4096;
  __syncthreads();
  u32 at = threadIdx.x;
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) at = next[at];
  out[thread_of_grid()] = at;
}

/// A gain for each sample, four samples a thread. Fault: 100 KB of shared memory for 512 bytes.
__global__ void amplify(const float* in, float* out) {
  extern __shared__ float gains[];
  gains[threadIdx.x] = 1.0f + static_cast<float>(threadIdx.x);
  const u32 first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  float v[4];
#pragma unroll
  for (u32 k = 0; k < 4; ++k) v[k] = in[first + k * blockDim.x];
#pragma unroll
  for (u32 k = 0; k < 4; ++k) out[first + k * blockDim.x] = v[k] * gains[threadIdx.x];
}

/// A fractal's pixels, a thread a pixel. Fault: blocks of 4 × 4 threads.
__global__ void fractal(float* out, u32 width, u32 steps) {
  const u32 x = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * width + x] = logistic(static_cast<float>(x ^ y) / static_cast<float>(width), steps);
}

/// Two kinds of random walk. Fault: even threads walk one, odd threads the other.
template <bool kByLane>
__global__ void two_walks(u32* out, u32 steps) {
  const u32 i = thread_of_grid();
  const u32 kind = kByLane ? i & 1 : (i / 32) & 1;
  u32 state = i + 1;
  if (kind == 0) {
#pragma unroll 1
    for (u32 k = 0; k < steps; ++k) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
    }
  } else {
    float x = static_cast<float>(state);
#pragma unroll 1
    for (u32 k = 0; k < steps; ++k) {
      x = x * 0.75f + 2.0f;
      x = x * 1.25f - 1.0f;
      x = x * 0.50f + 3.0f;
      x = x * 1.50f - 2.0f;
    }
    state = __float_as_uint(x);
  }
  out[i] = state;
}

/// Orbits of different lengths, 32 different ones in each block. Fault: each lane of a warp has
/// another length; mended, each warp.
template <bool kByLane>
__global__ void lengths(float* out, u32 unit) {
  const u32 group = kByLane ? threadIdx.x % 32 : threadIdx.x / 32;
  const u32 i = thread_of_grid();
  out[i] = logistic(static_cast<float>(threadIdx.x + 1) / 1030.f, (group + 1) * unit);
}

void blocks_and_warps(Pairs& pair) {
  const u32 s = pair.scale();
  float* out = empty<float>((std::size_t{6} << 20) * s);
  {
    const u32 n = 32768 * s;
    pair(
        "idle-sms", "orbits on eight blocks", [=] { orbits<<<8, 1024>>>(out, n, 512); },
        [=] { orbits<<<n / 256, 256>>>(out, n, 512); });
  }
  {
    const u32 rows = 2048 * s, columns = 1024;
    const float* m = timed::drawn<float>(std::size_t{rows} * columns);
    pair(
        "idle-sms", "column sums by four blocks",
        [=] { column_sums<<<dim3(4, 1), 256>>>(m, out, rows, columns); },
        [=] { column_sums<<<dim3(4, 128), 256>>>(m, out, rows, columns); });
  }
  {
    std::vector<u32> uneven(1056), even(1056, 128 * s);
    for (u32 b = 0; b < 1056; ++b) uneven[b] = (b % 66 == 0 ? 2048 : 98) * s;
    const u32 *d_uneven = uploaded(uneven), *d_even = uploaded(even);
    pair(
        "uneven-blocks", "integrals of different lengths",
        [=] { integrals<<<1056, 256>>>(d_uneven, out); },
        [=] { integrals<<<1056, 256>>>(d_even, out); });
  }
  {
    const u32 rows = 132 * 16;
    std::vector<u32> depths(rows, 8 * s);
    for (u32 r = rows / 2; r < rows / 2 + rows / 8; ++r) depths[r] = 256 * s;
    const u32* d_depths = uploaded(depths);
    pair(
        "uneven-blocks", "picture whose middle is deep",
        [=] { picture<true><<<132, 512>>>(d_depths, out, rows); },
        [=] { picture<false><<<132, 512>>>(d_depths, out, rows); });
  }
  {
    const u32 n = 144 * 1024 * 32, steps = 16 * s, bytes = 120 << 10;
    timed::check(
        cudaFuncSetAttribute(responses, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "attribute");
    pair(
        "tail", "twelve blocks too many", [=] { responses<<<144, 1024, bytes>>>(out, n, steps); },
        [=] { responses<<<132, 1024, bytes>>>(out, n, steps); });
  }
  {
    const u32 n = (4u << 20) * s;
    u32* words = reinterpret_cast<u32*>(out);
    pair(
        "small-blocks", "squares by blocks of a warp", [=] { squares<<<n / 32, 32>>>(words); },
        [=] { squares<<<n / 256, 256>>>(words); });
  }
  {
    const u32 blocks = 1056 * s;
    u32* words = reinterpret_cast<u32*>(out);
    timed::check(
        cudaFuncSetAttribute(ring_walk, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 << 10),
        "attribute");
    pair(
        "low-occupancy", "ring in shared memory that is too large",
        [=] { ring_walk<<<blocks, 64, 160 << 10>>>(words, 512); },
        [=] { ring_walk<<<blocks, 64, 16 << 10>>>(words, 512); });
  }
  {
    const u32 n = (4u << 20) * s;
    const float* in = timed::drawn<float>(n);
    timed::check(
        cudaFuncSetAttribute(amplify, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10),
        "attribute");
    pair(
        "low-occupancy", "gains in shared memory that is too large",
        [=] { amplify<<<n / 512, 128, 100 << 10>>>(in, out); },
        [=] { amplify<<<n / 512, 128, 512>>>(in, out); });
  }
  {
    const u32 width = 512, height = 256 * s;
    pair(
        "part-warps", "fractal by blocks of 4 × 4",
        [=] { fractal<<<dim3(width / 4, height / 4), dim3(4, 4)>>>(out, width, 256); },
        [=] { fractal<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, width, 256); });
  }
  {
    const u32 blocks = 528 * s;
    u32* words = reinterpret_cast<u32*>(out);
    pair(
        "divergence", "two walks by even and odd threads",
        [=] { two_walks<true><<<blocks, 256>>>(words, 128); },
        [=] { two_walks<false><<<blocks, 256>>>(words, 128); });
    pair(
        "divergence", "lanes of different lengths",
        [=] { lengths<true><<<264 * s, 1024>>>(out, 8); },
        [=] { lengths<false><<<264 * s, 1024>>>(out, 8); });
  }
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  blocks_and_warps(pair);
  return 0;
}
