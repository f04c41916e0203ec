// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// More kernels of blind.cu: global memory.
#include "grader/gpu_truth/advice/fresh.cuh"

/// A wave over a line, 512 points a block. Fault: a block begins 128 points after the one before.
__global__ void wave(float* out, u32 begins) {
  for (u32 k = threadIdx.x; k < 512; k += blockDim.x) {
    const u32 i = blockIdx.x * begins + k;
    out[i] = busy(static_cast<float>(i), 32);
  }
}

/// Springs after some steps, a thread a spring. Fault: both halves of a block take the same ones.
__global__ void springs(float* out, u32 of_block) {
  const u32 i = blockIdx.x * of_block + threadIdx.x % of_block;
  float x = static_cast<float>(i % 1000) * 0.001f, v = 0;
#pragma unroll 1
  for (u32 k = 0; k < 48; ++k) {
    v -= 0.01f * x;
    x += 0.01f * v;
  }
  out[i] = x;
}

/// The largest word of each warp's stretch of 512. Fault: each lane has 16 words in a row.
template <bool kOwnStretch>
__global__ void largest_of_stretch(const u32* in, u32* out) {
  const u32 warp = thread_of_grid() / 32, lane = threadIdx.x % 32;
  u32 most = 0;
#pragma unroll
  for (u32 k = 0; k < 16; ++k)
    most = max(most, in[warp * 512 + (kOwnStretch ? lane * 16 + k : k * 32 + lane)]);
  most = __reduce_max_sync(~0u, most);
  if (lane == 0) out[warp] = most;
}

/// Thins a fog, a volume of 256 × 256 × 64 whose last axis is contiguous. Fault: neighbouring
/// threads are neighbours on the first axis.
template <bool kFirstAxis>
__global__ void thin_fog(const float* in, float* out) {
  const u32 i = thread_of_grid();
  const u32 at = kFirstAxis ? (i % 256 * 256 + i / 256 % 256) * 64 + i / 65536 : i;
  out[at] = 0.5f * in[at];
}

/// The most opaque of each warp's pixels, eight a thread. Fault: opacity is the last of four bytes
/// of a pixel; mended, it is an array of its own.
__global__ void most_opaque(const unsigned char* in, u32* out, u32 pitch, u32 n) {
  const u32 i = thread_of_grid();
  u32 most = 0;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) most = max(most, u32{in[(i + k * (n / 8)) * pitch + pitch - 1]});
  most = __reduce_max_sync(~0u, most);
  if (threadIdx.x % 32 == 0) out[i / 32] = most;
}

/// The sum of prices, eight a thread. Fault: a price is one of ten words of an order.
__global__ void prices(const float* in, float* out, u32 pitch, u32 n) {
  const u32 i = thread_of_grid();
  float v[8];
#pragma unroll
  for (u32 k = 0; k < 8; ++k) v[k] = in[(i + k * (n / 8)) * pitch + pitch / 3];
  float sum = 0;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) sum += v[k];
  sum = warp_total(sum);
  if (threadIdx.x % 32 == 0) out[i / 32] = sum;
}

/// Reads runs of 16 words in a scattered order, half a warp a run. Fault: a run begins in the
/// middle of a sector.
__global__ void scattered_runs(const u32* in, u32* out, u32 runs, u32 first) {
  const u32 i = thread_of_grid();
  const u32 run = i / 16 * 40503u % runs;
  out[i] = in[std::size_t{run} * 32 + first + i % 16];
}

/// Writes rows of 32 words in a scattered order. Fault: rows begin five words into a sector.
__global__ void scattered_rows(u32* out, u32 rows, u32 first) {
  const u32 i = thread_of_grid();
  const u32 row = i / 32 * 40503u % rows;
  out[std::size_t{row} * 48 + first + i % 32] = i;
}

/// Sums of 16 terms. Fault: the sum so far is stored after each term.
template <bool kEachStep>
__global__ void sums_so_far(const float* __restrict__ in, volatile float* out, u32 n) {
  const u32 i = thread_of_grid();
  float v[16];
#pragma unroll
  for (u32 k = 0; k < 16; ++k) v[k] = in[k * n + i];
  float sum = 0;
#pragma unroll
  for (u32 k = 0; k < 16; ++k) {
    sum += v[k];
    if (kEachStep) out[i] = sum;
  }
  if (!kEachStep) out[i] = sum;
}

/// The nearest of 8192 code words for each of a block's 16 items. Fault: the code book is walked
/// through once an item; mended, once, with each word held against all items.
template <bool kOncePerItem>
__global__ void nearest_code(const u32* book, u32* out) {
  u32 best[16];
#pragma unroll
  for (u32 item = 0; item < 16; ++item) best[item] = ~0u;
  if (kOncePerItem) {
#pragma unroll
    for (u32 item = 0; item < 16; ++item)
#pragma unroll 4
      for (u32 k = 0; k < 32; ++k)
        best[item] =
            min(best[item], book[k * 256 + threadIdx.x] ^ (blockIdx.x * 40503u + item * 4099));
  } else {
#pragma unroll 4
    for (u32 k = 0; k < 32; ++k) {
      const u32 word = book[k * 256 + threadIdx.x];
#pragma unroll
      for (u32 item = 0; item < 16; ++item)
        best[item] = min(best[item], word ^ (blockIdx.x * 40503u + item * 4099));
    }
  }
  u32 sum = 0;
#pragma unroll
  for (u32 item = 0; item < 16; ++item) sum += best[item];
  out[thread_of_grid()] = sum;
}

/// Spaces of a text. Fault: byte after byte.
__global__ void spaces_by_bytes(const unsigned char* text, u32* out, u32 bytes) {
  u32 count = 0;
#pragma unroll 1
  for (u32 i = thread_of_grid(); i < bytes; i += gridDim.x * blockDim.x)
    count += text[i] == ' ' ? 1 : 0;
  out[thread_of_grid()] = count;
}

/// The same, 16 bytes at a time.
__global__ void spaces_by_vectors(const uint4* text, u32* out, u32 bytes) {
  u32 count = 0;
#pragma unroll 4
  for (u32 i = thread_of_grid(); i < bytes / 16; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    for (const u32 word : {v.x, v.y, v.z, v.w}) count += __popc(__vcmpeq4(word, 0x20202020u)) / 8;
  }
  out[thread_of_grid()] = count;
}

/// The distance of two signals. Fault: one term after the other is waited for.
template <u32 kAtOnce>
__global__ void signal_distance(const float* a, const float* b, float* out, u32 n) {
  const u32 step = gridDim.x * blockDim.x;
  float sum = 0;
#pragma unroll 1
  for (u32 i = thread_of_grid(); i < n; i += kAtOnce * step) {
    float x[kAtOnce], y[kAtOnce];
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) x[k] = a[i + k * step], y[k] = b[i + k * step];
#pragma unroll
    for (u32 k = 0; k < kAtOnce; ++k) sum += fabsf(x[k] - y[k]);
  }
  out[thread_of_grid()] = sum;
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  const u32 s = pair.scale();
  float* out = empty<float>((std::size_t{5} << 20) * s);
  u32* words = reinterpret_cast<u32*>(out);
  {
    const u32 points = 1056 * 512 * s;
    pair(
        "work-twice", "stretches of a wave that overlap",
        [=] { wave<<<points / 128, 128>>>(out, 128); },
        [=] { wave<<<points / 512, 128>>>(out, 512); });
    pair(
        "work-twice", "springs of both halves of a block",
        [=] { springs<<<points / 128, 256>>>(out, 128); },
        [=] { springs<<<points / 256, 256>>>(out, 256); });
  }
  {
    const u32 n = (4u << 20) * s;
    const u32* in = timed::drawn<u32>(n);
    pair(
        "uncoalesced", "a stretch of 16 words a lane",
        [=] { largest_of_stretch<true><<<n / 16 / 256, 256>>>(in, words); },
        [=] { largest_of_stretch<false><<<n / 16 / 256, 256>>>(in, words); });
  }
  {
    // 64 layers deep whatever the scale: the kernel knows the volume's axes.
    const float* in = timed::drawn<float>(4u << 20);
    pair(
        "uncoalesced", "a volume along its first axis",
        [=] { thin_fog<true><<<16384, 256>>>(in, out); },
        [=] { thin_fog<false><<<16384, 256>>>(in, out); });
  }
  {
    const u32 n = (8u << 20) * s;
    const auto* in = timed::drawn<unsigned char>(std::size_t{n} * 4, 256);
    pair(
        "partial-sectors", "opacity of pixels of four bytes",
        [=] { most_opaque<<<n / 8 / 256, 256>>>(in, words, 4, n); },
        [=] { most_opaque<<<n / 8 / 256, 256>>>(in, words, 1, n); });
  }
  {
    const u32 n = (1u << 20) * s;
    const float* in = timed::drawn<float>(std::size_t{n} * 10);
    pair(
        "partial-sectors", "prices of orders of ten words",
        [=] { prices<<<n / 8 / 256, 256>>>(in, out, 10, n); },
        [=] { prices<<<n / 8 / 256, 256>>>(in, out, 1, n); });
  }
  {
    const u32 runs = 131072 * s;
    const u32* in = timed::drawn<u32>(std::size_t{runs} * 32);
    pair(
        "misaligned", "runs of 16 words that begin in a sector's middle",
        [=] { scattered_runs<<<runs / 16, 256>>>(in, words, runs, 4); },
        [=] { scattered_runs<<<runs / 16, 256>>>(in, words, runs, 0); });
  }
  {
    const u32 rows = 65536 * s;
    pair(
        "misaligned", "rows written five words late",
        [=] { scattered_rows<<<rows / 8, 256>>>(words, rows, 5); },
        [=] { scattered_rows<<<rows / 8, 256>>>(words, rows, 0); });
  }
  {
    const u32 n = 262144 * s;
    const float* in = timed::drawn<float>(std::size_t{n} * 16);
    pair(
        "redundant-traffic", "the sum so far after each term",
        [=] { sums_so_far<true><<<n / 256, 256>>>(in, out, n); },
        [=] { sums_so_far<false><<<n / 256, 256>>>(in, out, n); });
  }
  {
    const u32* book = timed::drawn<u32>(8192);
    pair(
        "redundant-traffic", "a code book walked through for each item",
        [=] { nearest_code<true><<<264 * s, 256>>>(book, words); },
        [=] { nearest_code<false><<<264 * s, 256>>>(book, words); });
  }
  {
    const u32 bytes = 264 * 1024 * 32 * s;
    const auto* text = timed::drawn<unsigned char>(bytes, 64);
    pair(
        "few-bytes-in-flight", "a text byte after byte",
        [=] { spaces_by_bytes<<<264, 1024>>>(text, words, bytes); },
        [=] {
          spaces_by_vectors<<<264, 1024>>>(reinterpret_cast<const uint4*>(text), words, bytes);
        });
  }
  {
    const u32 n = 264 * 1024 * 8 * s;
    const float *a = timed::drawn<float>(n), *b = timed::drawn<float>(n);
    pair(
        "few-bytes-in-flight", "signals compared term by term",
        [=] { signal_distance<1><<<264, 1024>>>(a, b, out, n); },
        [=] { signal_distance<8><<<264, 1024>>>(a, b, out, n); });
  }
  return 0;
}
