// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Thirty kernels with one planted fault each, other kernels than those that the rules were written
/// with: what the guided analysis is held against.
#include "pairs.cuh"

using namespace pairs;

__device__ float sum_of_warp(float x) {
  for (u32 d = 16; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
  return x;
}

// --- blocks and warps -------------------------------------------------------------------------

__global__ void saxpy(const float* x, float* y, u32 n) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x) y[i] = 2.5f * x[i] + y[i];
}

/// The largest of `each` words for every block.
__global__ void largest(const int* in, int* out, u32 each) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  int mine = 0;
  for (u32 k = threadIdx.x; k < each; k += blockDim.x) mine = max(mine, in[blockIdx.x * each + k]);
  mine = __reduce_max_sync(~0u, mine);
  if (threadIdx.x % 32 == 0) atomicMax(&most, mine);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = most;
}

/// Shared memory that leaves room for one block a multiprocessor.
__global__ void iterate_in_shared(float* out, u32 steps) {
  extern __shared__ float table[];
  table[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  float x = table[threadIdx.x ^ 1];
  for (u32 k = 0; k < steps; ++k) x = x * 0.999f + 1;
  out[thread_of_grid()] = x;
}

__global__ void iterate_double(double* out, u32 steps) {
  double x = thread_of_grid();
  for (u32 k = 0; k < steps; ++k) x = x * 0.999 + 1;
  out[thread_of_grid()] = x;
}

/// Sums of rows of a triangle, computed and not loaded: row b has b terms, or all have as many.
template <bool kTriangle>
__global__ void rows(float* out, u32 terms) {
  const u32 length = kTriangle ? blockIdx.x * 2 * terms / gridDim.x : terms;
  float sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < length; ++k) sum += static_cast<float>(k ^ threadIdx.x);
  out[thread_of_grid()] = sum;
}

/// The last blocks clean up behind the others.
__global__ void last_blocks_more(float* out, u32 steps, u32 more) {
  const u32 i = thread_of_grid();
  const u32 turns = blockIdx.x + 8 >= gridDim.x ? more : steps;
  float x = static_cast<float>(i);
#pragma unroll 1
  for (u32 k = 0; k < turns; ++k) x = sqrtf(x + 2);
  out[i] = x;
}

/// Keeps `kValues` values in registers; `turns` times as much arithmetic.
template <u32 kValues>
__global__ void many_registers(const float* in, float* out, u32 n, u32 turns) {
  const u32 i = thread_of_grid();
  float x[kValues];
#pragma unroll
  for (u32 k = 0; k < kValues; ++k) x[k] = static_cast<float>(k);
#pragma unroll 1
  for (u32 at = i; at < n; at += gridDim.x * blockDim.x) {
    const float value = in[at];
#pragma unroll 1
    for (u32 turn = 0; turn < turns; ++turn)
#pragma unroll
      for (u32 k = 0; k < kValues; ++k) x[k] = x[k] * 0.5f + value;
  }
  float sum = 0;
#pragma unroll
  for (u32 k = 0; k < kValues; ++k) sum += x[k];
  out[i] = sum;
}

/// Where each load is, the one before says; lanes stay together.
__global__ void chase(const int* next, int* out, u32 steps, u32 mask) {
  u32 at = thread_of_grid();
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k)
    at = (at + gridDim.x * blockDim.x + static_cast<u32>(next[at] >> 20)) & mask;
  out[thread_of_grid()] = static_cast<int>(at);
}

__global__ void add_vectors(const float* a, const float* b, float* c, u32 n) {
  const u32 i = thread_of_grid();
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void polynomial(const float* in, float* out, u32 degree) {
  const float x = in[thread_of_grid()] * 0.001f;
  float y = 1;
  for (u32 k = 0; k < degree; ++k) y = y * x + 1.5f;
  out[thread_of_grid()] = y;
}

// --- divergence -------------------------------------------------------------------------------

/// Iterations until a limit that differs from lane to lane, or from warp to warp.
template <bool kByLane>
__global__ void until_limit(float* out) {
  const u32 i = thread_of_grid();
  const u32 limit = kByLane ? 16 + i % 32 * 16 : 16 + i / 32 % 32 * 16;
  float x = 1;
#pragma unroll 1
  for (u32 k = 0; k < limit; ++k) x = x * 1.001f + 0.1f;
  out[i] = x;
}

template <bool kByLane>
__global__ void four_cases(float* out) {
  const u32 i = thread_of_grid();
  float x = static_cast<float>(i);
  switch ((kByLane ? i : i / 32) % 4) {
    case 0:
      for (u32 k = 0; k < 100; ++k) x = sqrtf(x + 1);
      break;
    case 1:
      for (u32 k = 0; k < 100; ++k) x = __sinf(x) + 2;
      break;
    case 2:
      for (u32 k = 0; k < 300; ++k) x = x * 0.5f + 3;
      break;
    default:
      for (u32 k = 0; k < 300; ++k) x = x * 0.25f - 4;
  }
  out[i] = x;
}

/// Lane 0 works for its warp, or each lane for itself.
template <bool kFirstLane>
__global__ void lane_zero(const float* in, float* out) {
  const u32 i = thread_of_grid(), lane = i % 32;
  float x = in[i];
  if (kFirstLane) {
    if (lane == 0)
      for (u32 k = 0; k < 32 * 8; ++k) x = x * 0.9f + 1;
  } else {
    for (u32 k = 0; k < 8; ++k) x = x * 0.9f + 1;
  }
  out[i] = x;
}

// --- work done twice --------------------------------------------------------------------------

/// A grid that is larger than the data: surplus threads begin again at the front.
__global__ void wraps_around(const float* in, float* out, u32 n) {
  const u32 i = thread_of_grid() % n;
  float x = in[i];
  for (u32 k = 0; k < 64; ++k) x = x * 0.99f + 0.01f;
  out[i] = x;
}

/// All rows of a block take the same elements.
__global__ void rows_of_block(const float* in, float* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = sqrtf(in[i]) * 3 + 1;
}

// --- global memory ----------------------------------------------------------------------------

/// The words of a column, or of a row.
__global__ void roots_of(const float* in, float* out, u32 apart) {
  const u32 i = thread_of_grid();
  out[i] = sqrtf(in[i * apart]);
}

/// A permutation that scatters neighbours, or leaves them together.
template <bool kScatters>
__global__ void permuted(const int* in, int* out, u32 n) {
  const u32 i = thread_of_grid();
  const u32 from = kScatters ? i * 2654435761u % n : i ^ 1;
  out[i] = in[from];
}

template <bool kColumn>
__global__ void outer_product(const float* a, const float* b, float* out, u32 side) {
  const u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[kColumn ? x * side + y : y * side + x] = a[x] * b[y];
}

struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void energies_of_structs(const Particle* all, float* out) {
  const u32 i = thread_of_grid();
  out[i] = 0.5f * all[i].mass * all[i].vx;
}

__global__ void energies_of_arrays(const float* mass, const float* vx, float* out) {
  const u32 i = thread_of_grid();
  out[i] = 0.5f * mass[i] * vx[i];
}

__global__ void every_second(const int* in, int* out, u32 stride) {
  for (u32 i = thread_of_grid(); i < 1u << 20; i += gridDim.x * blockDim.x)
    out[i * stride] = in[i] + 1;
}

__global__ void real_parts(const float* in, float* out, u32 stride) {
  for (u32 i = thread_of_grid(); i < 1u << 21; i += gridDim.x * blockDim.x)
    out[i] = in[i * stride] * 2;
}

__global__ void ones_from(float* out, u32 first, u32 n) {
  for (u32 i = thread_of_grid(); i < n; i += gridDim.x * blockDim.x) out[first + i] = 1;
}

__global__ void fill_rows(int* out, u32 pitch, u32 width, u32 height) {
  for (u32 y = blockIdx.x; y < height; y += gridDim.x)
    for (u32 x = threadIdx.x; x < width; x += blockDim.x) out[y * pitch + x] = static_cast<int>(x);
}

// --- shared and local memory ------------------------------------------------------------------

template <u32 kStride>
__global__ void strided_in_shared(const int* in, int* out) {
  __shared__ int words[256 * kStride];
  words[threadIdx.x * kStride] = in[thread_of_grid()];
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < 128; ++k) sum += words[(threadIdx.x + k) % 256 * kStride];
  out[thread_of_grid()] = sum;
}

template <u32 kPitch>
__global__ void transpose_in_shared(const float* in, float* out, u32 turns) {
  __shared__ float tile[64 * kPitch];
  const u32 x = threadIdx.x % 64, y = threadIdx.x / 64;
  for (u32 k = y; k < 64; k += 4) tile[k * kPitch + x] = in[blockIdx.x * 4096 + k * 64 + x];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (u32 turn = 0; turn < turns; ++turn)
    for (u32 k = y; k < 64; k += 4) sum += tile[x * kPitch + k] * static_cast<float>(turn);
  out[thread_of_grid()] = sum;
}

/// A stack of the thread's own; the compiler knows its depth, or not.
template <bool kKnown>
__global__ void stack(const int* in, int* out) {
  int words[16];
  int top = 0, sum = 0;
  const int x = in[thread_of_grid()];
  if (kKnown) {
#pragma unroll
    for (int k = 0; k < 16; ++k) words[k] = x + k;
#pragma unroll
    for (int k = 15; k >= 0; --k) sum = sum * 3 + words[k];
  } else {
#pragma unroll 1
    for (int k = 0; k < 16; ++k) words[top++ & 15] = x + k + (top & 1);
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum = sum * 3 + words[--top & 15];
  }
  out[thread_of_grid()] = sum;
}

// --- atomics ----------------------------------------------------------------------------------

template <bool kEach>
__global__ void mean_of_squares(const float* in, float* sum, u32 each) {
  float mine = 0;
  for (u32 k = 0; k < each; ++k) {
    const float x = in[(blockIdx.x * each + k) * blockDim.x + threadIdx.x];
    if (kEach)
      atomicAdd(sum, x * x);
    else
      mine += x * x;
  }
  if (kEach) return;
  __shared__ float of_warp[8];
  mine = sum_of_warp(mine);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (u32 k = 1; k < 8; ++k) mine += of_warp[k];
  atomicAdd(sum, mine);
}

// --- traffic ----------------------------------------------------------------------------------

__global__ void product_from_memory(const float* a, const float* b, float* c, u32 side) {
  const u32 x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (u32 k = 0; k < side; ++k) sum += a[y * side + k] * b[k * side + x];
  c[y * side + x] = sum;
}

__global__ void product_from_tiles(const float* a, const float* b, float* c, u32 side) {
  __shared__ float of_a[16][16], of_b[16][16];
  const u32 tx = threadIdx.x, ty = threadIdx.y;
  const u32 x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
  float sum = 0;
  for (u32 from = 0; from < side; from += 16) {
    of_a[ty][tx] = a[y * side + from + tx];
    of_b[ty][tx] = b[(from + ty) * side + x];
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < 16; ++k) sum += of_a[ty][k] * of_b[k][tx];
    __syncthreads();
  }
  c[y * side + x] = sum;
}

// --- waiting ----------------------------------------------------------------------------------

/// Sums of all lanes to the left, four times over.
template <bool kBlockwide>
__global__ void scan_of_warps(const int* in, int* out) {
  __shared__ int words[1024];
  const u32 i = thread_of_grid(), t = threadIdx.x;
  int x = in[i];
#pragma unroll 1
  for (u32 turn = 0; turn < 4; ++turn) {
    if (kBlockwide) words[t] = x;
    for (u32 d = 1; d < 32; d *= 2) {
      int left = 0;
      if (kBlockwide) {
        __syncthreads();
        left = t % 32 >= d ? words[t - d] : 0;
        __syncthreads();
        words[t] = x + left;
      } else {
        left = __shfl_up_sync(~0u, x, d);
        if (t % 32 < d) left = 0;
      }
      x += left;
    }
  }
  out[i] = x;
}

template <u32 kTogether>
__global__ void dot(const float* a, const float* b, float* out, u32 n) {
  const u32 step = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (u32 i = thread_of_grid(); i < n; i += kTogether * step) {
    float product[kTogether];
#pragma unroll
    for (u32 k = 0; k < kTogether; ++k) product[k] = a[i + k * step] * b[i + k * step];
#pragma unroll
    for (u32 k = 0; k < kTogether; ++k) sum += product[k];
  }
  out[thread_of_grid()] = sum;
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  const u32 n = pair.scale() << 20;
  int* in = timed::drawn<int>(8 * n + 4096);
  int* out = timed::drawn<int>(4 * n + 4096);
  auto* f_in = reinterpret_cast<float*>(in);
  auto* f_out = reinterpret_cast<float*>(out);
#define PAIR(rule, name, fault, mended) \
  pair(                                 \
      rule, name, [&] { fault; }, [&] { mended; })

  PAIR("idle-sms", "saxpy by one block", (saxpy<<<1, 1024>>>(f_in, f_out, n / 8)),
       (saxpy<<<128, 1024>>>(f_in, f_out, n / 8)));
  PAIR("idle-sms", "a block for each of 32 rows", (largest<<<32, 256>>>(in, out, n / 32)),
       (largest<<<1024, 256>>>(in, out, n / 1024)));
  cudaFuncSetAttribute(iterate_in_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 << 10);
  PAIR("tail", "133 blocks, one a multiprocessor",
       (iterate_in_shared<<<133, 1024, 120 << 10>>>(f_out, 2000)),
       (iterate_in_shared<<<132, 1024, 120 << 10>>>(f_out, 2015)));
  PAIR("tail", "140 blocks of doubles",
       (iterate_double<<<140, 512>>>(reinterpret_cast<double*>(out), 1500)),
       (iterate_double<<<132, 512>>>(reinterpret_cast<double*>(out), 1590)));
  PAIR("uneven-blocks", "a triangle of rows", (rows<true><<<264, 512>>>(f_out, 512)),
       (rows<false><<<264, 512>>>(f_out, 512)));
  PAIR("uneven-blocks", "the last eight clean up",
       (last_blocks_more<<<1056, 256>>>(f_out, 20, 2000)),
       (last_blocks_more<<<1056, 256>>>(f_out, 35, 35)));
  PAIR("low-occupancy", "200 values in registers",
       (many_registers<208><<<1056, 256>>>(f_in, f_out, 2 * n, 1)),
       (many_registers<16><<<1056, 256>>>(f_in, f_out, 2 * n, 13)));
  PAIR("low-occupancy", "chases in blocks of one warp",
       (chase<<<8448, 32>>>(in, out, 24, 8 * n - 1)),
       (chase<<<1056, 256>>>(in, out, 24, 8 * n - 1)));
  PAIR("small-blocks", "sums by blocks of 64",
       (add_vectors<<<n / 64, 64>>>(f_in, f_in + n, f_out, n)),
       (add_vectors<<<n / 512, 512>>>(f_in, f_in + n, f_out, n)));
  PAIR("part-warps", "blocks of 40 threads", (polynomial<<<n / 160, 40>>>(f_in, f_out, 1500)),
       (polynomial<<<n / 256, 64>>>(f_in, f_out, 1500)));
  PAIR("divergence", "limits that differ by lane", (until_limit<true><<<n / 256, 256>>>(f_out)),
       (until_limit<false><<<n / 256, 256>>>(f_out)));
  PAIR("divergence", "four cases", (four_cases<true><<<n / 1024, 256>>>(f_out)),
       (four_cases<false><<<n / 1024, 256>>>(f_out)));
  PAIR("divergence", "lane 0 for its warp", (lane_zero<true><<<n / 256, 256>>>(f_in, f_out)),
       (lane_zero<false><<<n / 256, 256>>>(f_in, f_out)));
  PAIR("work-twice", "a grid three times too large",
       (wraps_around<<<3 * (n / 256), 256>>>(f_in, f_out, n)),
       (wraps_around<<<n / 256, 256>>>(f_in, f_out, n)));
  PAIR("work-twice", "eight rows of a block alike",
       (rows_of_block<<<n / 128, dim3(128, 8)>>>(f_in, f_out)),
       (rows_of_block<<<n / 1024, 1024>>>(f_in, f_out)));
  PAIR("partial-sectors", "a column of 16 words a row",
       (roots_of<<<n / 512, 256>>>(f_in, f_out, 16)), (roots_of<<<n / 512, 256>>>(f_in, f_out, 1)));
  PAIR("uncoalesced", "a scattering permutation", (permuted<true><<<n / 256, 256>>>(in, out, n)),
       (permuted<false><<<n / 256, 256>>>(in, out, n)));
  PAIR("uncoalesced", "an outer product by columns",
       (outer_product<true><<<dim3(32, 128), dim3(32, 8)>>>(f_in, f_in + 4096, f_out, 1024)),
       (outer_product<false><<<dim3(32, 128), dim3(32, 8)>>>(f_in, f_in + 4096, f_out, 1024)));
  PAIR("partial-sectors", "members of structs of 32 bytes",
       (energies_of_structs<<<n / 256, 256>>>(reinterpret_cast<Particle*>(in), f_out)),
       (energies_of_arrays<<<n / 256, 256>>>(f_in, f_in + n, f_out)));
  PAIR("partial-sectors", "every second word stored", (every_second<<<528, 512>>>(in, out, 2)),
       (every_second<<<528, 512>>>(in, out, 1)));
  PAIR("partial-sectors", "real parts of complex numbers",
       (real_parts<<<528, 512>>>(f_in, f_out, 2)), (real_parts<<<528, 512>>>(f_in, f_out, 1)));
  PAIR("misaligned", "ones from the third word on", (ones_from<<<528, 512>>>(f_out, 3, 2 * n)),
       (ones_from<<<528, 512>>>(f_out, 0, 2 * n)));
  PAIR("misaligned", "rows 1,027 words apart", (fill_rows<<<1056, 256>>>(out, 1027, 1024, 2048)),
       (fill_rows<<<1056, 256>>>(out, 1024, 1024, 2048)));
  PAIR("bank-conflicts", "words four apart", (strided_in_shared<4><<<n / 1024, 256>>>(in, out)),
       (strided_in_shared<1><<<n / 1024, 256>>>(in, out)));
  PAIR("bank-conflicts", "columns of 64 floats",
       (transpose_in_shared<64><<<n / 4096, 256>>>(f_in, f_out, 8)),
       (transpose_in_shared<65><<<n / 4096, 256>>>(f_in, f_out, 8)));
  PAIR("local-memory", "a stack", (stack<false><<<n / 256, 256>>>(in, out)),
       (stack<true><<<n / 256, 256>>>(in, out)));
  PAIR("same-address-atomics", "a sum of squares",
       (mean_of_squares<true><<<n / 1024, 256>>>(f_in, f_out, 4)),
       (mean_of_squares<false><<<n / 1024, 256>>>(f_in, f_out, 4)));
  PAIR("redundant-traffic", "a product from memory",
       (product_from_memory<<<dim3(16, 16), dim3(16, 16)>>>(f_in, f_in + n, f_out, 256)),
       (product_from_tiles<<<dim3(16, 16), dim3(16, 16)>>>(f_in, f_in + n, f_out, 256)));
  PAIR("barriers", "a scan of warps by barriers",
       (scan_of_warps<true><<<n / 2048, 1024>>>(in, out)),
       (scan_of_warps<false><<<n / 2048, 1024>>>(in, out)));
  PAIR("few-bytes-in-flight", "a dot product, pair by pair",
       (dot<1><<<528, 256>>>(f_in, f_in + 2 * n, f_out, 2 * n)),
       (dot<4><<<528, 256>>>(f_in, f_in + 2 * n, f_out, 2 * n)));
  return 0;
}
