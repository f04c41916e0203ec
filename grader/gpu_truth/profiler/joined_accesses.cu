// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels whose loads of shared memory ptxas joins, hoists out of loops or drops: what the PTX
/// says is not what a GPU does.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;

// --- A block's sum that every thread reads -------------------------------------------------------

__device__ float block_sum(float value, float* partial) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0u, value, d);
  __syncthreads();
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  float sum = 0;
  for (unsigned w = 0; w < 8; ++w) sum += partial[w];
  return sum;
}

/// A block a row: mean, variance, and the row made of them.
__global__ void layernorm(const float* in, float* out, const float* gain, const float* bias,
                          int n) {
  __shared__ float partial[8];
  const float* row = in + blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  const float mean = block_sum(sum, partial) / n;
  float squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
  const float scale = rsqrtf(block_sum(squares, partial) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}

/// The sums stay in shared memory and are read where they are used.
__global__ void layernorm_kept(const float* in, float* out, int n) {
  __shared__ float partial[8];
  __shared__ float mean, scale;
  const float* row = in + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i], squares += row[i] * row[i];
  sum = block_sum(sum, partial);
  squares = block_sum(squares, partial);
  if (threadIdx.x == 0) {
    mean = sum / n;
    scale = rsqrtf(squares / n - mean * mean + 1e-5f);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = (row[i] - mean) * scale;
}

/// A warp a row, four rows a block.
__global__ void softmax(const float* in, float* out, int n) {
  __shared__ float maxima[4], sums[4];
  const unsigned lane = threadIdx.x, y = threadIdx.y;
  const float* row = in + (blockIdx.x * 4 + y) * n;
  float most = -1e30f;
  for (int i = lane; i < n; i += 32) most = fmaxf(most, row[i]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (lane == 0) maxima[y] = most;
  __syncthreads();
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += expf(row[i] - maxima[y]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) sums[y] = sum;
  __syncthreads();
  float* to = out + (blockIdx.x * 4 + y) * n;
  for (int i = lane; i < n; i += 32) to[i] = expf(row[i] - maxima[y]) / sums[y];
}

// --- Neighbouring words --------------------------------------------------------------------------

/// How often does each digit occur? Every thread looks at all keys of the block.
__global__ void digit_count(const int* keys, int* counts, int shift) {
  __shared__ int digits[256];
  digits[threadIdx.x] = (keys[blockIdx.x * 256 + threadIdx.x] >> shift) & 255;
  __syncthreads();
  int count = 0;
  for (int i = 0; i < 256; ++i) count += digits[i] == static_cast<int>(threadIdx.x);
  counts[blockIdx.x * 256 + threadIdx.x] = count;
}

/// A digit's places: a column of a table of warps, and what stands before it.
__global__ void digit_offsets(const int* keys, int* counts) {
  __shared__ int table[16][9];
  __shared__ int before[16];
  if (threadIdx.x < 16 * 9) table[threadIdx.x / 9][threadIdx.x % 9] = 0;
  __syncthreads();
  const int digit = keys[blockIdx.x * 256 + threadIdx.x] & 15;
  atomicAdd(&table[digit][threadIdx.x / 32], 1);
  __syncthreads();
  if (threadIdx.x < 16) {
    int sum = 0;
    for (int w = 0; w < 8; ++w) sum += table[threadIdx.x][w];
    before[threadIdx.x] = sum;
  }
  __syncthreads();
  int place = 0;
  for (int d = 0; d < 16; ++d)
    if (d < digit) place += before[d];
  for (int w = 0; w < 8; ++w)
    if (w < static_cast<int>(threadIdx.x) / 32) place += table[digit][w];
  counts[blockIdx.x * 256 + threadIdx.x] = place;
}

template <int kTile>
__global__ void tiled_product(const float* a, const float* b, float* c, int n) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  float sum = 0;
  for (int at = 0; at < n; at += kTile) {
    left[threadIdx.y][threadIdx.x] = a[y * n + at + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

/// Each thread four rows of the product.
__global__ void product_of_columns(const float* a, const float* b, float* c, int n) {
  __shared__ float left[64][16], right[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x;
  float sum[4] = {};
  for (int at = 0; at < n; at += 16) {
    for (int r = 0; r < 4; ++r)
      left[threadIdx.y + 16 * r][threadIdx.x] =
          a[(blockIdx.y * 64 + threadIdx.y + 16 * r) * n + at + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      for (int r = 0; r < 4; ++r) sum[r] += left[threadIdx.y * 4 + r][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) c[(blockIdx.y * 64 + threadIdx.y * 4 + r) * n + x] = sum[r];
}

__global__ void bodies_of_arrays(const float* in, float* out, int n) {
  __shared__ float x[128], y[128], z[128];
  const int me = blockIdx.x * 128 + threadIdx.x;
  const float my_x = in[me], my_y = in[n + me], my_z = in[2 * n + me];
  float force = 0;
  for (int at = 0; at < n; at += 128) {
    x[threadIdx.x] = in[at + threadIdx.x];
    y[threadIdx.x] = in[n + at + threadIdx.x];
    z[threadIdx.x] = in[2 * n + at + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float dx = x[j] - my_x, dy = y[j] - my_y, dz = z[j] - my_z;
      force += dx * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
    }
    __syncthreads();
  }
  out[me] = force;
}

__global__ void bodies_of_vectors(const float4* in, float* out, int n) {
  __shared__ float4 bodies[128];
  const float4 me = in[blockIdx.x * 128 + threadIdx.x];
  float force = 0;
  for (int at = 0; at < n; at += 128) {
    bodies[threadIdx.x] = in[at + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float dx = bodies[j].x - me.x, dy = bodies[j].y - me.y, dz = bodies[j].z - me.z;
      force += dx * bodies[j].w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
    }
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = force;
}

/// As many bodies in a tile as there are.
__global__ void bodies_of_a_part(const float* in, float* out, int n, int part) {
  extern __shared__ float bodies[];
  const float me = in[blockIdx.x * blockDim.x + threadIdx.x];
  float force = 0;
  for (int at = 0; at < n; at += part) {
    if (threadIdx.x < part) bodies[threadIdx.x] = in[at + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < part; ++j) force += rsqrtf(bodies[j] - me + 1e6f);
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = force;
}

/// A filter of constants in shared memory.
__global__ void filter_row(const float* in, const float* weights, float* out, int n) {
  __shared__ float taps[16], row[128 + 16];
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (threadIdx.x < 16) taps[threadIdx.x] = weights[threadIdx.x];
  row[threadIdx.x] = in[at];
  if (threadIdx.x < 16) row[128 + threadIdx.x] = at + 128 < n ? in[at + 128] : 0;
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < 16; ++t) sum += taps[t] * row[threadIdx.x + t];
  out[at] = sum;
}

// --- Stencils
// --------------------------------------------------------------------------------------

/// Each thread walks down; the words above, here and below are loaded anew.
__global__ void stencil_walk(const float* in, float* out, int n) {
  __shared__ float tile[34][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  for (int y = threadIdx.y; y < 34; y += blockDim.y)
    for (int x = threadIdx.x; x < 34; x += blockDim.x) {
      const int gx = min(max(x0 + x - 1, 0), n - 1), gy = min(max(y0 + y - 1, 0), n - 1);
      tile[y][x] = in[gy * n + gx];
    }
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y) {
    const int x = threadIdx.x;
    out[(y0 + y) * n + x0 + x] = tile[y][x + 1] + tile[y + 2][x + 1] + tile[y + 1][x] +
                                 tile[y + 1][x + 2] - 4 * tile[y + 1][x + 1];
  }
}

/// Four neighbours in a row a thread: their words overlap.
__global__ void stencil_row(const float* in, float* out) {
  __shared__ __align__(16) float row[512 + 8];
  for (int i = threadIdx.x; i < 520; i += 128) row[i] = in[blockIdx.x * 512 + i];
  __syncthreads();
  const int at = threadIdx.x * 4;
  float4 sums;
  sums.x = row[at] + row[at + 1] + row[at + 2];
  sums.y = row[at + 1] + row[at + 2] + row[at + 3];
  sums.z = row[at + 2] + row[at + 3] + row[at + 4];
  sums.w = row[at + 3] + row[at + 4] + row[at + 5];
  reinterpret_cast<float4*>(out)[blockIdx.x * 128 + threadIdx.x] = sums;
}

/// Each result is stored before the next words are loaded.
__global__ void stencil_between_stores(const float* in, float* out) {
  __shared__ float row[256 + 4];
  for (int i = threadIdx.x; i < 260; i += 128) row[i] = in[blockIdx.x * 256 + i];
  __syncthreads();
  for (int r = 0; r < 2; ++r) {
    const int at = threadIdx.x + r * 128;
    out[blockIdx.x * 512 + at] = row[at] + row[at + 1];
    out[blockIdx.x * 512 + 256 + at] = row[at] - row[at + 1];
  }
}

// --- Rows that do not change in a loop
// -------------------------------------------------------------

/// A thread's own word, and a row's, read in each round of a loop that stores to global memory.
__global__ void scaled_rows(const float* in, float* out, int rows) {
  __shared__ float scale[128], shift[4];
  scale[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x < 4) shift[threadIdx.x] = in[threadIdx.x + 128];
  __syncthreads();
  for (int r = 0; r < rows; ++r)
    out[(blockIdx.x * rows + r) * 128 + threadIdx.x] = r * scale[127 - threadIdx.x] + shift[1];
}

/// The same with an index that the loop finds anew, and with a row by the round.
__global__ void outer_product(const float* a, const float* b, float* c) {
  __shared__ float left[32], right[32];
  if (threadIdx.y == 0) left[threadIdx.x] = a[blockIdx.x * 32 + threadIdx.x];
  if (threadIdx.y == 1) right[threadIdx.x] = b[blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    c[(blockIdx.x * 32 + y) * 32 + threadIdx.x] = left[y] * right[threadIdx.x];
}

/// One thread's loop: the pivot's row is subtracted from others.
__global__ void eliminate(const float* in, float* out) {
  __shared__ float matrix[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  matrix[y][x] = in[(blockIdx.x * 16 + y) * 16 + x];
  __syncthreads();
  for (int k = 0; k < 15; ++k) {
    const float factor = matrix[y][k] / matrix[k][k];
    __syncthreads();
    if (y > k && x >= k) matrix[y][x] -= factor * matrix[k][x];
    __syncthreads();
  }
  out[(blockIdx.x * 16 + y) * 16 + x] = matrix[y][x];
}

/// Sums in a tree; the last words are added by everyone.
__global__ void tree_sum(const float* in, float* out) {
  __shared__ float words[256];
  words[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int d = 128; d >= 4; d /= 2) {
    if (threadIdx.x < d) words[threadIdx.x] += words[threadIdx.x + d];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = words[0] + words[1] + words[2] + words[3];
}

/// A scan by doubling, of two arrays in turn.
__global__ void scan(const float* in, float* out) {
  __shared__ float words[2][256];
  int now = 0;
  words[0][threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const float word = words[now][threadIdx.x];
    words[1 - now][threadIdx.x] = threadIdx.x >= d ? word + words[now][threadIdx.x - d] : word;
    now = 1 - now;
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = words[now][threadIdx.x];
}

/// Means of the columns of a tile that every row needs.
__global__ void batch_norm(const float* in, float* out, int rows) {
  __shared__ float mean[32], factor[32];
  float sum = 0, squares = 0;
  const int x = blockIdx.x * 32 + threadIdx.x, width = gridDim.x * 32;
  for (int y = 0; y < rows; ++y) {
    const float value = in[y * width + x];
    sum += value;
    squares += value * value;
  }
  if (threadIdx.y == 0) {
    mean[threadIdx.x] = sum / rows;
    factor[threadIdx.x] = rsqrtf(squares / rows + 1e-5f);
  }
  __syncthreads();
  for (int y = threadIdx.y; y < rows; y += blockDim.y)
    out[y * width + x] = (in[y * width + x] - mean[threadIdx.x]) * factor[threadIdx.x];
}

/// A table of polynomials: four coefficients each, found by the data.
__global__ void polynomials(const float* in, const float* table, float* out) {
  __shared__ __align__(16) float coefficients[64][4];
  for (int i = threadIdx.x; i < 256; i += 128) coefficients[i / 4][i % 4] = table[i];
  __syncthreads();
  const float value = in[blockIdx.x * 128 + threadIdx.x];
  const float* c = coefficients[__float_as_int(value) & 63];
  out[blockIdx.x * 128 + threadIdx.x] = c[0] + value * (c[1] + value * (c[2] + value * c[3]));
}

/// Distances to centres, of two numbers each.
__global__ void nearest_centre(const float* in, const float* centres, int* out, int count, int n) {
  __shared__ float places[64 * 2];
  for (int i = threadIdx.x; i < count * 2; i += 128) places[i] = centres[i];
  __syncthreads();
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    const float x = in[2 * i], y = in[2 * i + 1];
    float best = 1e30f;
    int which = 0;
    for (int c = 0; c < count; ++c) {
      const float dx = places[2 * c] - x, dy = places[2 * c + 1] - y;
      if (dx * dx + dy * dy < best) best = dx * dx + dy * dy, which = c;
    }
    out[i] = which;
  }
}

/// A band of a matrix times a vector in shared memory.
__global__ void matrix_vector(const float* matrix, const float* vector, float* out, int n) {
  __shared__ float words[256];
  float sum = 0;
  const int row = blockIdx.x * 128 + threadIdx.x;
  for (int at = 0; at < n; at += 256) {
    for (int i = threadIdx.x; i < 256; i += 128) words[i] = vector[at + i];
    __syncthreads();
    for (int i = 0; i < 256; ++i) sum += matrix[(at + i) * 256 + row] * words[i];
    __syncthreads();
  }
  out[row] = sum;
}

/// The same value is loaded on both ways of a branch, and after it.
__global__ void branches(const float* in, float* out) {
  __shared__ float words[128], limit;
  words[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  if (threadIdx.x == 0) limit = in[0] + 5;
  __syncthreads();
  float value = words[127 - threadIdx.x];
  if (value > limit) {
    out[blockIdx.x * 128 + threadIdx.x] = limit - words[127 - threadIdx.x];
  } else {
    out[blockIdx.x * 128 + threadIdx.x] = value;
  }
  out[8192 + blockIdx.x * 128 + threadIdx.x] = limit + words[127 - threadIdx.x];
}

}  // namespace

int main() {
  const float* in = profiler::counted<float>(1 << 20);
  const float* more = profiler::counted<float>(1 << 20);
  const int* keys = profiler::counted<int>(1 << 20);
  float* out = profiler::counted<float>(1 << 20);
  int* counts = profiler::counted<int>(1 << 20);
  run("layernorm", 4, 256, layernorm, in, out, more, more, 1000);
  run("layernorm_kept", 4, 256, layernorm_kept, in, out, 1000);
  run("softmax", 4, dim3(32, 4), softmax, in, out, 200);
  run("digit_count", 4, 256, digit_count, keys, counts, 2);
  run("digit_offsets", 4, 256, digit_offsets, keys, counts);
  run("tiled_product.8", dim3(8, 8), dim3(8, 8), tiled_product<8>, in, more, out, 64);
  run("tiled_product.16", dim3(4, 4), dim3(16, 16), tiled_product<16>, in, more, out, 64);
  run("tiled_product.32", dim3(2, 2), dim3(32, 32), tiled_product<32>, in, more, out, 64);
  run("product_of_columns", dim3(4, 1), dim3(16, 16), product_of_columns, in, more, out, 64);
  run("bodies_of_arrays", 4, 128, bodies_of_arrays, in, out, 512);
  run("bodies_of_vectors", 4, 128, bodies_of_vectors, reinterpret_cast<const float4*>(in), out,
      512);
  run("filter_row", 8, 128, filter_row, in, more, out, 1024);
  run("stencil_walk", dim3(4, 4), dim3(32, 8), stencil_walk, in, out, 128);
  run("stencil_row", 8, 128, stencil_row, in, out);
  run("stencil_between_stores", 8, 128, stencil_between_stores, in, out);
  run("scaled_rows", 8, 128, scaled_rows, in, out, 10);
  run("outer_product", 8, dim3(32, 8), outer_product, in, more, out);
  run("eliminate", 8, dim3(16, 16), eliminate, in, out);
  run("tree_sum", 8, 256, tree_sum, in, out);
  run("scan", 8, 256, scan, in, out);
  run("batch_norm", 4, dim3(32, 8), batch_norm, in, out, 50);
  run("polynomials", 8, 128, polynomials, in, more, out);
  run("nearest_centre", 4, 128, nearest_centre, in, more, counts, 13, 2000);
  run("matrix_vector", 2, 128, matrix_vector, in, more, out, 512);
  run("branches", 8, 128, branches, in, out);
  bodies_of_a_part<<<4, 128, 512>>>(in, out, 300, 50);
  profiler::check(cudaDeviceSynchronize(), "bodies_of_a_part");
  std::printf("bodies_of_a_part\n");
}
