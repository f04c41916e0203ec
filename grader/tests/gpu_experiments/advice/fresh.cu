// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Thirty more kernels with one planted fault each, written from the list of rules alone, without a
/// look at the rules' code or the other pairs, and with the expected rule written down before the
/// first run. None was changed after it. Place in the chain: pairs.cuh -> [fresh], a
/// program.
#include "grader/tests/gpu_experiments/advice/pairs.cuh"

using namespace pairs;

template <typename T>
T* uploaded(const std::vector<T>& values) {
  T* d_values = nullptr;
  timed::check(cudaMalloc(&d_values, values.size() * sizeof(T)), "cudaMalloc");
  timed::check(
      cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
      "copy in");
  return d_values;
}

template <typename T>
T* empty(std::size_t count) {
  T* d_values = nullptr;
  timed::check(cudaMalloc(&d_values, count * sizeof(T)), "cudaMalloc");
  timed::check(cudaMemset(d_values, 0, count * sizeof(T)), "cudaMemset");
  return d_values;
}

/// The sum over a warp, in lane 0.
__device__ float warp_total(float x) {
  for (u32 d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  return x;
}

/// The logistic map, `steps` times.
__device__ float logistic(float x, u32 steps) {
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) x = 3.7f * x * (1 - x);
  return x;
}

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

// --- global memory ----------------------------------------------------------------------------

/// Celsius to Fahrenheit. Fault: each block converts everything.
template <bool kAll>
__global__ void fahrenheit(const float* in, float* out, u32 n) {
  const u32 first = kAll ? threadIdx.x : thread_of_grid();
  const u32 step = kAll ? blockDim.x : gridDim.x * blockDim.x;
  for (u32 i = first; i < n; i += step) out[i] = in[i] * 1.8f + 32.0f;
}

/// Twice a matrix. Fault: the lanes of a warp are different rows.
template <bool kLanesAreRows>
__global__ void twice(const float* in, float* out, u32 width) {
  const u32 row = kLanesAreRows ? thread_of_grid() : blockIdx.y;
  const u32 column = kLanesAreRows ? blockIdx.y : thread_of_grid();
  out[row * width + column] = 2 * in[row * width + column];
}

/// Eight arrays into records of eight words. Fault: a thread writes its record word by word.
__global__ void pack(const u32* in, u32* out, u32 n) {
  const u32 i = thread_of_grid();
  u32 v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = in[k * n + i];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) out[i * 8 + k] = v[k];
}

/// The same, with the warp's records turned round in shared memory.
__global__ void pack_by_warp(const u32* in, u32* out, u32 n) {
  __shared__ u32 turned[256 * 9];
  const u32 i = thread_of_grid();
  const u32 lane = threadIdx.x % 32;
  u32* mine = turned + threadIdx.x / 32 * 32 * 9;
  u32 v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = in[k * n + i];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) mine[lane * 9 + k] = v[k];
  __syncwarp();
#pragma unroll
  for (u32 k = 0; k < 8; ++k) {
    const u32 word = k * 32 + lane;
    out[(i - lane) * 8 + word] = mine[word / 8 * 9 + word % 8];
  }
}

/// The mass of all particles, eight a thread. Fault: the masses are one word in eight.
template <u32 kStride>
__global__ void total_mass(const float* particles, float* out) {
  const u32 first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  float v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = particles[std::size_t{first + k * blockDim.x} * kStride];
  float sum = 0;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) sum += v[k];
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) out[thread_of_grid() / 32] = sum;
}

/// The brightest green of each warp's pixels. Fault: red, green and blue lie side by side.
template <u32 kStride>
__global__ void greenest(const u32* pixels, u32* out) {
  const u32 first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
  u32 v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = pixels[std::size_t{first + k * blockDim.x} * kStride];
  u32 most = 0;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) most = max(most, v[k]);
  most = __reduce_max_sync(~0u, most);
  if (threadIdx.x % 32 == 0) out[thread_of_grid() / 32] = most;
}

/// Gathers records of 32 bytes, eight lanes a record, eight records after each other. Fault: the
/// records start 16 bytes into the file, so each lies in two sectors.
__global__ void gather_records(const u32* file, u32 header, const u32* which, u32* out) {
  const u32 group = thread_of_grid() / 8;
  const u32 groups = gridDim.x * blockDim.x / 8;
  u32 v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = file[header + which[group + k * groups] * 8 + threadIdx.x % 8];
  u32 sum = 0;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) sum += v[k];
  out[thread_of_grid()] = sum;
}

/// Writes records of 32 bytes in a scattered order. Fault: again 16 bytes out of step.
__global__ void scatter_records(u32* file, u32 header, u32 records) {
  const u32 record = thread_of_grid() / 8;
  const u32 to = record * 40503u % records;  // an odd factor and a power of two: each once
  file[header + to * 8 + threadIdx.x % 8] = record + threadIdx.x;
}

// --- shared and local memory, atomics, barriers ------------------------------------------------

/// A·Aᵀ by tiles of 32 × 32. Fault: a pitch of 32 words, and lanes that read a column.
template <u32 kPitch>
__global__ void gram(const float* a, float* out, u32 rows, u32 terms) {
  __shared__ float left[32 * 32], right[32 * kPitch];
  const u32 x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (u32 from = 0; from < terms; from += 32) {
    left[y * 32 + x] = a[(blockIdx.y * 32 + y) * terms + from + x];
    right[y * kPitch + x] = a[(blockIdx.x * 32 + y) * terms + from + x];
    __syncthreads();
#pragma unroll 8
    for (u32 k = 0; k < 32; ++k) sum += left[y * 32 + k] * right[x * kPitch + k];
    __syncthreads();
  }
  out[(blockIdx.y * 32 + y) * rows + blockIdx.x * 32 + x] = sum;
}

/// A filter that keeps one sample in eight. Fault: lanes read every eighth word of shared memory;
/// mended, the eight phases lie apart.
template <bool kPhases>
__global__ void decimate(const float* in, float* out) {
  constexpr u32 kTaps = 128, kPitch = 276, kWords = 256 * 8 + kTaps;  // kPitch % 32 is 20
  __shared__ float samples[8 * kPitch];
  for (u32 i = threadIdx.x; i < kWords; i += 256)
    samples[kPhases ? i % 8 * kPitch + i / 8 : i] = in[blockIdx.x * 2048 + i];
  __syncthreads();
  float sum = 0, weight = 1;
#pragma unroll 1
  for (u32 k = 0; k < kTaps; ++k) {
    sum += weight * samples[kPhases ? k % 8 * kPitch + k / 8 + threadIdx.x : threadIdx.x * 8 + k];
    weight *= 0.98f;
  }
  out[thread_of_grid()] = sum;
}

/// A histogram of 16 bins for each thread. Fault: the bins are an array of the thread; mended,
/// they are in shared memory, a bank a lane.
template <bool kLocal>
__global__ void bins_of_threads(const u32* in, u32* out, u32 rounds) {
  __shared__ u32 shared_bins[kLocal ? 1 : 16 * 256];
  u32 own[16];
  const u32 threads = gridDim.x * blockDim.x;
  for (u32 b = 0; b < 16; ++b)
    if (kLocal)
      own[b] = 0;
    else
      shared_bins[b * 256 + threadIdx.x] = 0;
  for (u32 r = 0; r < rounds; ++r) {
    u32 v[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) v[k] = in[(r * 8 + k) * threads + thread_of_grid()];
#pragma unroll
    for (u32 k = 0; k < 8; ++k)
      if (kLocal)
        ++own[v[k] % 16];
      else
        ++shared_bins[v[k] % 16 * 256 + threadIdx.x];
  }
  for (u32 b = 0; b < 16; ++b)
    out[b * threads + thread_of_grid()] = kLocal ? own[b] : shared_bins[b * 256 + threadIdx.x];
}

/// An echo: each thread's signal with itself of 64 steps ago. Fault: the delay line is an array of
/// the thread; mended, it is in shared memory.
template <bool kLocal>
__global__ void echo(float* out, u32 steps) {
  __shared__ float shared_line[kLocal ? 1 : 64 * 128];
  float own[64];
#pragma unroll 1
  for (u32 k = 0; k < 64; ++k)
    if (kLocal)
      own[k] = static_cast<float>(k);
    else
      shared_line[k * 128 + threadIdx.x] = static_cast<float>(k);
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) {
    const u32 at = k % 64;
    float& slot = kLocal ? own[at] : shared_line[at * 128 + threadIdx.x];
    x = 0.5f * x + 0.25f * slot;
    slot = x;
  }
  out[thread_of_grid()] = x;
}

/// One total of an array. Fault: each thread adds its value to it.
__global__ void total_by_thread(const float* in, float* total) {
  atomicAdd(total, in[thread_of_grid()]);
}

/// The same, a value a block.
__global__ void total_by_block(const float* in, float* total) {
  __shared__ float sums[8];
  const float sum = warp_total(in[thread_of_grid()]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
#pragma unroll
    for (u32 w = 0; w < 8; ++w) all += sums[w];
    atomicAdd(total, all);
  }
}

/// Appends each value none to three times to a list. Fault: each thread asks for its place.
__global__ void append_by_thread(const u32* in, u32* list, u32* length) {
  const u32 value = in[thread_of_grid()];
  const u32 copies = value % 4;
  const u32 at = atomicAdd(length, copies);
  for (u32 k = 0; k < copies; ++k) list[at + k] = value;
}

/// The same; the block asks once.
__global__ void append_by_block(const u32* in, u32* list, u32* length) {
  __shared__ u32 counts[8], place;
  const u32 value = in[thread_of_grid()];
  const u32 copies = value % 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  u32 upto = copies;
#pragma unroll
  for (u32 d = 1; d < 32; d *= 2) {
    const u32 left = __shfl_up_sync(~0u, upto, d);
    if (lane >= d) upto += left;
  }
  if (lane == 31) counts[warp] = upto;
  __syncthreads();
  if (threadIdx.x == 0) {
    u32 all = 0;
#pragma unroll
    for (u32 w = 0; w < 8; ++w) {
      const u32 count = counts[w];
      counts[w] = all;
      all += count;
    }
    place = atomicAdd(length, all);
  }
  __syncthreads();
  const u32 at = place + counts[warp] + upto - copies;
  for (u32 k = 0; k < copies; ++k) list[at + k] = value;
}

/// How often each of four letters is there. Fault: a counter a letter for all of a block's threads;
/// mended, one for each lane's number.
template <u32 kCopies>
__global__ void letters(const u32* in, u32* out) {
  __shared__ u32 counts[4 * kCopies];
  for (u32 i = threadIdx.x; i < 4 * kCopies; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  const u32 first = blockIdx.x * blockDim.x * 16 + threadIdx.x;
  u32 v[16];
#pragma unroll
  for (u32 k = 0; k < 16; ++k) v[k] = in[first + k * blockDim.x];
#pragma unroll
  for (u32 k = 0; k < 16; ++k) atomicAdd(&counts[v[k] % 4 * kCopies + threadIdx.x % kCopies], 1u);
  __syncthreads();
  if (threadIdx.x < 4) {
    u32 sum = 0;
    for (u32 c = 0; c < kCopies; ++c)
      sum += counts[threadIdx.x * kCopies + (c + threadIdx.x) % kCopies];
    out[blockIdx.x * 4 + threadIdx.x] = sum;
  }
}

/// Moments of an array: sums of its first to eighth powers. Fault: a pass over the array for each.
__global__ void moment(const float* in, float* out, u32 rounds) {
  const u32 threads = gridDim.x * blockDim.x, order = blockIdx.y + 1;
  float sum = 0;
  for (u32 r = 0; r < rounds; ++r) {
    float v[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) v[k] = in[(r * 8 + k) * threads + thread_of_grid()];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) {
      float power = v[k], term = 1;
      if (order & 1) term *= power;
      power *= power;
      if (order & 2) term *= power;
      power *= power;
      if (order & 4) term *= power;
      power *= power;
      if (order & 8) term *= power;
      sum += term;
    }
  }
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) out[(order - 1) * (threads / 32) + thread_of_grid() / 32] = sum;
}

/// The same, one pass for all.
__global__ void all_moments(const float* in, float* out, u32 rounds) {
  const u32 threads = gridDim.x * blockDim.x;
  float sums[8] = {};
  for (u32 r = 0; r < rounds; ++r) {
    float v[8];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) v[k] = in[(r * 8 + k) * threads + thread_of_grid()];
#pragma unroll
    for (u32 k = 0; k < 8; ++k) {
      float power = v[k];
#pragma unroll
      for (u32 order = 0; order < 8; ++order) {
        sums[order] += power;
        power *= v[k];
      }
    }
  }
#pragma unroll
  for (u32 order = 0; order < 8; ++order) {
    const float sum = warp_total(sums[order]);
    if (threadIdx.x % 32 == 0) out[order * (threads / 32) + thread_of_grid() / 32] = sum;
  }
}

/// The sum of a block's 32 warps, for all threads.
__device__ float block_total(float x, float* sums) {
  x = warp_total(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  return warp_total(sums[threadIdx.x % 32]);
}

/// A row's sum, its spread and its skew. Fault: three passes over the row, the later ones about
/// the mean; mended, one, with sums of powers that give the same.
template <bool kPasses>
__global__ void spread(const float* in, float* out, u32 width) {
  __shared__ float sums[32];
  const float* row = in + std::size_t{blockIdx.x} * width;
  float total[3] = {};
  float mean = 0;
  for (u32 pass = 0; pass < (kPasses ? 3 : 1); ++pass) {
    float sum[3] = {};
    for (u32 i = threadIdx.x; i < width; i += 8 * blockDim.x) {
      float v[8];
#pragma unroll
      for (u32 k = 0; k < 8; ++k) v[k] = row[i + k * blockDim.x];
#pragma unroll
      for (u32 k = 0; k < 8; ++k) {
        if (kPasses) {
          const float from = v[k] - mean;
          sum[0] += pass < 2 ? (pass == 0 ? v[k] : from * from) : from * from * from;
        } else {
          sum[0] += v[k];
          sum[1] += v[k] * v[k];
          sum[2] += v[k] * v[k] * v[k];
        }
      }
    }
    if (kPasses) {
      total[pass] = block_total(sum[0], sums);
      if (pass == 0) mean = total[0] / static_cast<float>(width);
    } else {
      for (u32 k = 0; k < 3; ++k) total[k] = block_total(sum[k], sums);
    }
  }
  if (threadIdx.x == 0)
    for (u32 k = 0; k < 3; ++k) out[blockIdx.x * 3 + k] = total[k];
}

/// Rows of a table, each made by one warp of the block. Fault: a barrier after each row.
template <bool kBarrier>
__global__ void rows_in_turn(float* out, u32 rows, u32 steps) {
  for (u32 r = 0; r < rows; ++r) {
    if (threadIdx.x / 32 == r % 32)
      out[(blockIdx.x * rows + r) * 32 + threadIdx.x % 32] =
          logistic(static_cast<float>(r + threadIdx.x + 1) / 1200.f, steps);
    if (kBarrier) __syncthreads();
  }
}

// --- bytes in flight ---------------------------------------------------------------------------

/// The largest value of each thread's words. Fault: each load is waited for before the next.
template <u32 kAtOnce>
__global__ void largest_words(const u32* in, u32* out, u32 rounds) {
  const u32 threads = gridDim.x * blockDim.x;
  u32 most = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r += kAtOnce) {
    u32 v[kAtOnce];
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) v[k] = in[(r + k) * threads + thread_of_grid()];
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) most = max(most, v[k]);
  }
  out[thread_of_grid()] = most;
}

/// Where a key is, a stretch of the array for each warp. Fault: looks at each word before it asks
/// for the next.
template <u32 kAtOnce>
__global__ void find(const u32* in, u32 key, u32* out, u32 rounds) {
  const u32 first = thread_of_grid() / 32 * 32 * rounds + threadIdx.x % 32;
#pragma unroll 1
  for (u32 r = 0; r < rounds; r += kAtOnce) {
    u32 v[kAtOnce];
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) v[k] = in[first + (r + k) * 32];
    bool found = false;
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) found |= v[k] == key;
    if (found) {
      *out = first + r * 32;
      return;
    }
  }
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

void global_memory(Pairs& pair) {
  const u32 s = pair.scale();
  const std::size_t words = (std::size_t{16} << 20) * s;
  const u32* in = timed::drawn<u32>(words);
  const float* floats = timed::drawn<float>((std::size_t{9} << 20) * s);
  u32* out = empty<u32>((std::size_t{8} << 20) * s + 8);
  float* out_floats = reinterpret_cast<float*>(out);
  {
    const u32 n = (1u << 16) * s;
    pair(
        "work-twice", "each block converts everything",
        [=] { fahrenheit<true><<<264, 256>>>(floats, out_floats, n); },
        [=] { fahrenheit<false><<<264, 256>>>(floats, out_floats, n); });
  }
  {
    const u32 width = 2048, height = 2048 * s;
    pair(
        "uncoalesced", "lanes are rows",
        [=] { twice<true><<<dim3(height / 256, width), 256>>>(floats, out_floats, width); },
        [=] { twice<false><<<dim3(width / 256, height), 256>>>(floats, out_floats, width); });
  }
  {
    const u32 n = (1u << 19) * s;
    pair(
        "uncoalesced", "records written word by word", [=] { pack<<<n / 256, 256>>>(in, out, n); },
        [=] { pack_by_warp<<<n / 256, 256>>>(in, out, n); });
  }
  {
    const u32 n = (2u << 20) * s;
    const float* particles = reinterpret_cast<const float*>(in);
    pair(
        "partial-sectors", "mass of particles of eight words",
        [=] { total_mass<8><<<n / 2048, 256>>>(particles, out_floats); },
        [=] { total_mass<1><<<n / 2048, 256>>>(particles, out_floats); });
    pair(
        "partial-sectors", "green of pixels of three words",
        [=] { greenest<3><<<n / 2048, 256>>>(in + 1, out); },
        [=] { greenest<1><<<n / 2048, 256>>>(in, out); });
  }
  {
    const u32 gathered = (1u << 20) * s;
    const u32* which = timed::drawn<u32>(gathered, 1u << 18);
    pair(
        "misaligned", "records gathered behind a header",
        [=] { gather_records<<<gathered / 256, 256>>>(in, 4, which, out); },
        [=] { gather_records<<<gathered / 256, 256>>>(in, 0, which, out); });
  }
  {
    const u32 records = (1u << 20) * s;
    pair(
        "misaligned", "records scattered behind a header",
        [=] { scatter_records<<<records / 32, 256>>>(out, 4, records); },
        [=] { scatter_records<<<records / 32, 256>>>(out, 0, records); });
  }
  {
    const u32 rounds = 4 * s;
    pair(
        "redundant-traffic", "a pass for each moment",
        [=] { moment<<<dim3(512, 8), 256>>>(floats, out_floats, rounds); },
        [=] { all_moments<<<512, 256>>>(floats, out_floats, rounds); });
  }
  {
    const u32 rows = 132 * s, width = 65536;
    pair(
        "redundant-traffic", "three passes over a row",
        [=] { spread<true><<<rows, 1024>>>(floats, out_floats, width); },
        [=] { spread<false><<<rows, 1024>>>(floats, out_floats, width); });
  }
  {
    const u32 rounds = 32 * s;
    pair(
        "few-bytes-in-flight", "largest words one at a time",
        [=] { largest_words<1><<<264, 1024>>>(in, out, rounds); },
        [=] { largest_words<8><<<264, 1024>>>(in, out, rounds); });
    pair(
        "few-bytes-in-flight", "key looked for word by word",
        [=] { find<1><<<528, 512>>>(in, 1u << 20, out, rounds); },
        [=] { find<8><<<528, 512>>>(in, 1u << 20, out, rounds); });
  }
}

void on_the_chip(Pairs& pair) {
  const u32 s = pair.scale();
  const u32* in = timed::drawn<u32>((std::size_t{4} << 20) * s);
  const float* floats = timed::drawn<float>((std::size_t{4} << 20) * s);
  u32* out = empty<u32>((std::size_t{4} << 20) * s);
  float* out_floats = reinterpret_cast<float*>(out);
  {
    const u32 rows = 512, terms = 128 * s;
    const dim3 grid(rows / 32, rows / 32), block(32, 32);
    pair(
        "bank-conflicts", "product with its own transpose",
        [=] { gram<32><<<grid, block>>>(floats, out_floats, rows, terms); },
        [=] { gram<33><<<grid, block>>>(floats, out_floats, rows, terms); });
  }
  {
    const u32 blocks = 1024 * s;  // the last block's taps reach past its 2048 words
    pair(
        "bank-conflicts", "filter that keeps one in eight",
        [=] { decimate<false><<<blocks, 256>>>(floats, out_floats); },
        [=] { decimate<true><<<blocks, 256>>>(floats, out_floats); });
  }
  {
    const u32 blocks = 256, rounds = 8 * s;
    pair(
        "local-memory", "bins of a thread in its own array",
        [=] { bins_of_threads<true><<<blocks, 256>>>(in, out, rounds); },
        [=] { bins_of_threads<false><<<blocks, 256>>>(in, out, rounds); });
  }
  {
    const u32 blocks = 1024 * s;
    pair(
        "local-memory", "delay line in a thread's array",
        [=] { echo<true><<<blocks, 128>>>(out_floats, 256); },
        [=] { echo<false><<<blocks, 128>>>(out_floats, 256); });
  }
  {
    const u32 n = (1u << 20) * s;
    pair(
        "same-address-atomics", "total by each thread",
        [=] { total_by_thread<<<n / 256, 256>>>(floats, out_floats); },
        [=] { total_by_block<<<n / 256, 256>>>(floats, out_floats); });
  }
  {
    const u32 n = (1u << 19) * s;
    u32* counts = empty<u32>(2);
    pair(
        "same-address-atomics", "each thread asks for its place",
        [=] { append_by_thread<<<n / 256, 256>>>(in, out, counts); },
        [=] { append_by_block<<<n / 256, 256>>>(in, out, counts + 1); });
  }
  {
    const u32 n = (4u << 20) * s;
    pair(
        "shared-atomics", "four counters for a block",
        [=] { letters<1><<<n / 4096, 256>>>(in, out); },
        [=] { letters<32><<<n / 4096, 256>>>(in, out); });
  }
  {
    const u32 blocks = 264 * s;
    pair(
        "barriers", "a barrier after each warp's row",
        [=] { rows_in_turn<true><<<blocks, 1024>>>(out_floats, 64, 128); },
        [=] { rows_in_turn<false><<<blocks, 1024>>>(out_floats, 64, 128); });
  }
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  blocks_and_warps(pair);
  global_memory(pair);
  on_the_chip(pair);
  return 0;
}
