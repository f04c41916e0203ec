// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whole grids, for the model of L1, L2 and DRAM: streams, data that is used again by the same
/// thread, by neighbours, by other blocks; footprints below and above the caches.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::run;

constexpr int kMiB = 1 << 20;

__global__ void copy(const float* in, float* out) { out[thread_number()] = in[thread_number()]; }
__global__ void copy_4(const float4* in, float4* out) {
  out[thread_number()] = in[thread_number()];
}
__global__ void in_place(float* data) { data[thread_number()] = data[thread_number()] * 2 + 1; }
__global__ void add(const float* a, const float* b, float* out) {
  out[thread_number()] = a[thread_number()] + b[thread_number()];
}
__global__ void strided_read(const float* in, float* out, int stride) {
  out[thread_number()] = in[thread_number() * stride];
}
__global__ void strided_write(const float* in, float* out, int stride) {
  out[thread_number() * stride] = in[thread_number()];
}
/// Steps through memory a line at a time: the other sectors come later, or not at all.
__global__ void line_by_line(const float* in, float* out, int steps) {
  float sum = 0;
  for (int i = 0; i < steps; ++i) sum += in[thread_number() * 32 + i];
  out[thread_number()] = sum;
}
__global__ void three_point(const float* in, float* out) {
  const int i = thread_number() + 32;
  out[i] = in[i - 1] + in[i] + in[i + 1];
}
__global__ void five_point(const float* in, float* out, int width) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) + 1;
  const int i = y * width + x;
  out[i] = in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
}
__global__ void transpose(const float* in, float* out, int width) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  out[x * width + y] = in[y * width + x];
}
/// Every block reads the same table.
__global__ void shared_table(const float* table, float* out, int count) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    sum += table[i];
  out[thread_number()] = sum;
}
__global__ void matrix_product(const float* a, const float* b, float* out, int n) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[y * n + i] * b[i * n + x];
  out[y * n + x] = sum;
}
__global__ void gather(const float* in, const int* index, float* out) {
  out[thread_number()] = in[index[thread_number()]];
}
__global__ void scatter(const float* in, const int* index, float* out) {
  out[index[thread_number()]] = in[thread_number()];
}
/// Reads everything twice; the second time from the caches as far as it fits.
__global__ void twice(const float* in, float* out, int count) {
  float sum = 0;
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  for (int turn = 0; turn < 2; ++turn)
    for (int i = thread_number(); i < count; i += threads) sum += in[i];
  out[thread_number()] = sum;
}
__global__ void histogram(const int* in, int* bins, int mask) {
  atomicAdd(bins + (in[thread_number()] * 2654435761u >> 7 & static_cast<unsigned>(mask)), 1);
}
__global__ void local_work(const int* in, int* out) {
  int mine[64];
  for (int i = 0; i < 64; ++i) mine[i] = in[(thread_number() + i) & 1023];
  int at = in[thread_number() & 1023] & 63, sum = 0;
  for (int i = 0; i < 16; ++i) {
    sum += mine[at];
    at = (at * 5 + mine[at]) & 63;
  }
  out[thread_number()] = sum;
}

}  // namespace

int main() {
  // One after the other in memory; 64 MiB and more do not fit an L2 of 50 or 60 MB twice.
  float* in = profiler::counted<float>(std::size_t{128} * kMiB);
  float* out = profiler::counted<float>(std::size_t{128} * kMiB);
  std::vector<int> order(kMiB);
  profiler::Random random(7);
  for (int& element : order) element = random.below(4 * kMiB);
  int* index = profiler::numbers(order);

  run("copy.64_KiB", 64, 256, copy, in, out);
  run("copy.4_MiB", 4096, 256, copy, in, out);
  run("copy.64_MiB", 65536, 256, copy, in, out);
  run("copy_4.16_MiB", 4096, 256, copy_4, reinterpret_cast<const float4*>(in),
      reinterpret_cast<float4*>(out));
  run("in_place.4_MiB", 4096, 256, in_place, out);
  run("add.4_MiB", 4096, 256, add, in, in + 4 * kMiB, out);
  for (const int stride : {2, 8, 32}) {
    run("strided_read." + std::to_string(stride), 1024, 256, strided_read, in, out, stride);
    run("strided_write." + std::to_string(stride), 1024, 256, strided_write, in, out, stride);
  }
  run("line_by_line.8", 128, 256, line_by_line, in, out, 8);
  run("line_by_line.32", 128, 256, line_by_line, in, out, 32);
  run("line_by_line.32.many", 2048, 256, line_by_line, in, out, 32);
  run("three_point", 4096, 256, three_point, in, out);
  run("five_point", dim3(32, 128), dim3(32, 8), five_point, in, out, 1026);
  run("transpose.1024", dim3(64, 64), dim3(16, 16), transpose, in, out, 1024);
  run("transpose.2048", dim3(64, 256), dim3(32, 8), transpose, in, out, 2048);
  run("shared_table.16_KiB", 512, 128, shared_table, in, out, 4096);
  run("shared_table.1_MiB", 512, 128, shared_table, in, out, 256 * 1024);
  run("matrix_product.256", dim3(16, 16), dim3(16, 16), matrix_product, in, in + kMiB, out, 256);
  run("matrix_product.512", dim3(16, 64), dim3(32, 8), matrix_product, in, in + kMiB, out, 512);
  run("gather", 4096, 256, gather, in, index, out);
  run("scatter", 4096, 256, scatter, in, index, out);
  run("twice.16_MiB", 1056, 256, twice, in, out, 4 * kMiB);
  run("twice.128_MiB", 1056, 256, twice, in, out, 32 * kMiB);
  run("histogram.256", 4096, 256, histogram, index, reinterpret_cast<int*>(out), 255);
  run("histogram.65536", 4096, 256, histogram, index, reinterpret_cast<int*>(out), 65535);
  run("local_work", 1024, 256, local_work, index, reinterpret_cast<int*>(out));
}
