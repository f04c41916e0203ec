// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// More kernels of fresh.cu: global memory.
#include "grader/gpu_truth/advice/fresh.cuh"

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

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  global_memory(pair);
  return 0;
}
