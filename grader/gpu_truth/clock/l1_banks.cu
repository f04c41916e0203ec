// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// How many clocks L1 takes for one request when it holds all that is wanted: 32 warps of one block
// ask for the same places again and again. Loads of global memory: bytes a lane, clocks, and where
// each of 32 lanes loads. Fetches of four texels of an array of floats: 0, clocks a request, and x
// and y of each.
//
//   nvcc -std=c++17 -O2 -arch=native -o l1_banks l1_banks.cu && ./l1_banks >l1_banks.csv
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 1024, kLoads = 2048, kAtOnce = 8, kSize = 4096;
constexpr std::size_t kGibibyte = std::size_t{1} << 30;
/// Of the array's first byte: the banks are those of its address.
constexpr std::size_t kAlignment = 16 * kGibibyte;

template <int kBytes>
__device__ float load(const char* place) {
  if constexpr (kBytes == 1) {
    unsigned value;
    asm volatile("ld.global.ca.u8 %0, [%1];" : "=r"(value) : "l"(place));
    return value;
  } else if constexpr (kBytes == 4) {
    float value;
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(value) : "l"(place));
    return value;
  } else if constexpr (kBytes == 8) {
    float2 value;
    asm volatile("ld.global.ca.v2.f32 {%0,%1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(place));
    return value.x + value.y;
  } else {
    float4 value;
    asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(place));
    return value.x + value.y + value.z + value.w;
  }
}

/// `zero` is 0, which the compiler does not know: else it would load once.
template <int kBytes>
__global__ void load_again(const char* array, const long long* places, int zero, float* out,
                           long long* clocks) {
  long long place = places[threadIdx.x % 32];
  float sums[4] = {load<kBytes>(array + place)};
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < kLoads; i += kAtOnce) {
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      place += zero;
      sums[k % 4] += load<kBytes>(array + place);
    }
  }
  __syncthreads();
  const long long end = clock64();
  out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
  if (threadIdx.x == 0) *clocks = end - start;
}

__global__ void fetch_again(cudaTextureObject_t picture, const int2* places, int zero, float* out,
                            long long* clocks) {
  float x = places[threadIdx.x % 4].x + 0.5f;
  const float y = places[threadIdx.x % 4].y + 0.5f, nothing = zero;
  float sums[4] = {tex2D<float>(picture, x, y)};
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < kLoads; i += kAtOnce) {
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      x += nothing;
      sums[k % 4] += tex2D<float>(picture, x, y);
    }
  }
  __syncthreads();
  const long long end = clock64();
  out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
  if (threadIdx.x == 0) *clocks = end - start;
}

char* array = nullptr;
float* out = nullptr;
void* places = nullptr;
long long* clocks = nullptr;
cudaTextureObject_t picture = 0;

double clocks_a_warp() {
  long long all = 0;
  if (cudaMemcpy(&all, clocks, sizeof all, cudaMemcpyDeviceToHost) != cudaSuccess) std::exit(1);
  return static_cast<double>(all) / kLoads / (kThreads / 32);
}

void print_load(int bytes, const long long (&of_lanes)[32]) {
  cudaMemcpy(places, of_lanes, sizeof of_lanes, cudaMemcpyHostToDevice);
  const auto* const from = static_cast<const long long*>(places);
  for (int i = 0; i < 2; ++i) {
    if (bytes == 1) load_again<1><<<1, kThreads>>>(array, from, 0, out, clocks);
    if (bytes == 4) load_again<4><<<1, kThreads>>>(array, from, 0, out, clocks);
    if (bytes == 8) load_again<8><<<1, kThreads>>>(array, from, 0, out, clocks);
    if (bytes == 16) load_again<16><<<1, kThreads>>>(array, from, 0, out, clocks);
  }
  std::printf("%d,%.2f", bytes, clocks_a_warp());
  for (const long long place : of_lanes) std::printf(",%lld", place);
  std::printf("\n");
}

void print_fetch(const int2 (&of_lanes)[4]) {
  cudaMemcpy(places, of_lanes, sizeof of_lanes, cudaMemcpyHostToDevice);
  for (int i = 0; i < 2; ++i)
    fetch_again<<<1, kThreads>>>(picture, static_cast<const int2*>(places), 0, out, clocks);
  std::printf("0,%.2f", clocks_a_warp() / 8);
  for (const int2 place : of_lanes) std::printf(",%d,%d", place.x, place.y);
  std::printf("\n");
}

void make_picture() {
  const auto form = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  cudaMallocArray(&resource.res.array.array, &form, kSize, kSize);
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  cudaCreateTextureObject(&picture, &resource, &how, nullptr);
}

}  // namespace

int main() {
  char* all = nullptr;
  if (cudaMalloc(&all, 2 * kAlignment) != cudaSuccess) return 1;
  const auto first = reinterpret_cast<std::uintptr_t>(all) + kAlignment - 1;
  array = reinterpret_cast<char*>(first / kAlignment * kAlignment);
  cudaMalloc(&out, kThreads * sizeof(float));
  cudaMalloc(&places, 32 * sizeof(long long));
  cudaMalloc(&clocks, sizeof(long long));
  make_picture();

  long long lanes[32];
  // Two lines, of which the second has one more bit set.
  for (int bit = 0; bit < 27; ++bit)
    for (const int line : {0, 1, 2, 16}) {
      for (int i = 0; i < 32; ++i) lanes[i] = (i % 2 == 0 ? line : 1ll << bit) * 128 + i * 4;
      print_load(4, lanes);
    }
  std::srand(11);
  for (const int bytes : {1, 4, 8, 16})
    for (int pattern = 0; pattern < 60; ++pattern) {
      const int rows = 1 << std::rand() % 6, columns = 1 << std::rand() % 9;
      const long long pitch = pattern % 2 == 0 ? 16384 : 16384 + 128 * (std::rand() % 32);
      for (int i = 0; i < 32; ++i)
        lanes[i] = pattern % 3 == 0   ? std::rand() % rows * pitch + std::rand() % columns * bytes
                   : pattern % 3 == 1 ? i % rows * pitch + i / rows * bytes
                                      : static_cast<long long>(i) * bytes * (1 + pattern % 11);
      print_load(bytes, lanes);
    }
  for (int pattern = 0; pattern < 200; ++pattern) {
    const int width = 1 << std::rand() % 10, height = 1 << std::rand() % 10;
    int2 texels[4];
    for (int2& texel : texels) texel = {std::rand() % width, std::rand() % height};
    print_fetch(texels);
  }
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
