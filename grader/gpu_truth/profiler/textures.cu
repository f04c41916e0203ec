// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texture fetches and surface accesses: 1D, 2D and 3D, point and linear, arrays and plain memory.
///
/// With the argument `layout`, instead: which texels of an array share a sector and a line. Two
/// lanes fetch (0, 0) and one other texel, a launch each; the profiler counts what L1 asks of L2:
///   nvcc -cudart shared -arch=native -std=c++17 -I. -o textures
///   grader/gpu_truth/profiler/textures.cu ncu --csv --print-units base -k regex:fetch_pair
///   --cache-control all --metrics
///     l1tex__m_xbar2l1tex_read_sectors.sum,lts__t_requests_srcunit_tex.sum ./textures layout
/// Sectors 1: the same sector. Sectors 2 and requests 1: the same line. Requests 2: two lines. The
/// order of launches is printed. vgpu/memory/textures.hpp expects a sector of 16 bytes by 2 rows
/// and a line of 32 bytes by 4 rows.
#include "grader/gpu_truth/profiler/profiler.cuh"

namespace {

using profiler::check;
using profiler::run;

constexpr int kSide = 64;

template <typename T>
cudaArray_t image(int width, int height, int depth) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array = nullptr;
  const auto w = static_cast<std::size_t>(width), h = static_cast<std::size_t>(height),
             d = static_cast<std::size_t>(depth);
  check(cudaMalloc3DArray(&array, &format, cudaExtent{w, h, d}, cudaArraySurfaceLoadStore),
        "cudaMalloc3DArray");
  const std::size_t rows = h == 0 ? 1 : h, slices = d == 0 ? 1 : d;
  std::vector<T> texels(w * rows * slices);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), w * sizeof(T), w, rows);
  copy.dstArray = array;
  copy.extent = cudaExtent{w, rows, slices};
  copy.kind = cudaMemcpyHostToDevice;
  check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  return array;
}

cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.filterMode = filter;
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &how, nullptr), "cudaCreateTextureObject");
  return object;
}

cudaTextureObject_t linear_memory(float* d_texels, std::size_t count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_texels;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = count * sizeof(float);
  const cudaTextureDesc how{};
  cudaTextureObject_t object = 0;
  check(cudaCreateTextureObject(&object, &resource, &how, nullptr), "cudaCreateTextureObject");
  return object;
}

cudaSurfaceObject_t surface(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t object = 0;
  check(cudaCreateSurfaceObject(&object, &resource), "cudaCreateSurfaceObject");
  return object;
}

__device__ float x_of() { return static_cast<float>(thread_number() % kSide); }
__device__ float y_of() { return static_cast<float>(thread_number() / kSide % kSide); }

__global__ void fetch_1d(cudaTextureObject_t t, float* out, float shift) {
  out[thread_number()] = tex1D<float>(t, x_of() + shift);
}
__global__ void fetch_2d(cudaTextureObject_t t, float* out, float shift) {
  out[thread_number()] = tex2D<float>(t, x_of() + shift, y_of() + shift);
}
__global__ void fetch_2d_turned(cudaTextureObject_t t, float* out, float shift) {
  out[thread_number()] = tex2D<float>(t, y_of() + shift, x_of() + shift);
}
__global__ void fetch_2d_four(cudaTextureObject_t t, float* out, float shift) {
  const float4 texel = tex2D<float4>(t, x_of() + shift, y_of() + shift);
  out[thread_number()] = texel.x + texel.y + texel.z + texel.w;
}
__global__ void fetch_3d(cudaTextureObject_t t, float* out, float shift) {
  out[thread_number()] = tex3D<float>(t, x_of() / 4 + shift, y_of() / 4 + shift, 3 + shift);
}
__global__ void fetch_linear(cudaTextureObject_t t, float* out, int stride) {
  out[thread_number()] = tex1Dfetch<float>(t, thread_number() * stride);
}
__global__ void fetch_some(cudaTextureObject_t t, float* out) {
  if (threadIdx.x % 3 == 1) out[thread_number()] = tex2D<float>(t, x_of(), y_of());
}
__global__ void read_1d(cudaSurfaceObject_t s, float* out) {
  out[thread_number()] = surf1Dread<float>(s, thread_number() % kSide * 4);
}
__global__ void read_2d(cudaSurfaceObject_t s, float* out) {
  out[thread_number()] = surf2Dread<float>(s, thread_number() % kSide * 4, thread_number() / kSide);
}
__global__ void write_2d(cudaSurfaceObject_t s, const float* in) {
  surf2Dwrite(in[thread_number()], s, thread_number() % kSide * 4, thread_number() / kSide);
}
__global__ void write_2d_four(cudaSurfaceObject_t s, const float4* in) {
  surf2Dwrite(in[thread_number()], s, thread_number() % kSide * 16, thread_number() / kSide);
}
/// Only some lanes of a warp.
__global__ void fetch_lanes(cudaTextureObject_t t, float* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = tex2D<float>(t, static_cast<float>(at % kSide), y_of());
}
__global__ void fetch_linear_lanes(cudaTextureObject_t t, float* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = tex1Dfetch<float>(t, at);
}
__global__ void read_lanes(cudaSurfaceObject_t s, float* out, const int* index) {
  const int at = element_of(index);
  if (at >= 0) out[thread_number()] = surf2Dread<float>(s, at % kSide * 4, 3);
}
__global__ void write_lanes(cudaSurfaceObject_t s, float value, const int* index) {
  const int at = element_of(index);
  if (at >= 0) surf2Dwrite(value, s, at % kSide * 4, 3);
}
__global__ void write_3d_lanes(cudaSurfaceObject_t s, float value, const int* index) {
  const int at = element_of(index);
  if (at >= 0) surf3Dwrite(value, s, at % 16 * 4, 3, 1);
}
__global__ void copy_3d(cudaSurfaceObject_t s, float* out) {
  const int x = thread_number() % 16 * 4, y = thread_number() / 16;
  const float value = surf3Dread<float>(s, x, y, 2);
  surf3Dwrite(value + 1, s, x, y, 5);
  out[thread_number()] = value;
}

/// Lanes 0 and 1, which go to the texture unit together.
__global__ void fetch_pair(cudaTextureObject_t t, float* out, int x, int y) {
  if (threadIdx.x > 1) return;
  const float column = threadIdx.x == 0 ? 0.5f : x + 0.5f, row = threadIdx.x == 0 ? 0.5f : y + 0.5f;
  out[threadIdx.x] = tex2D<float>(t, column, row);
}

void show_layout(float* out) {
  constexpr int kLarge = 1024;
  const cudaTextureObject_t plane = texture(image<float>(kLarge, kLarge, 0), cudaFilterModePoint);
  const auto fetch = [&](int x, int y) {
    std::printf("x %d, y %d\n", x, y);
    fetch_pair<<<1, 32>>>(plane, out, x, y);
    check(cudaDeviceSynchronize(), "fetch_pair");
  };
  for (int x = 1; x <= 32; x += x < 8 ? 1 : 8) fetch(x, 0);
  for (int y = 1; y <= 16; ++y) fetch(0, y);
  for (const int y : {1, 2, 3})
    for (const int x : {3, 4, 7, 8}) fetch(x, y);
}

}  // namespace

int main(int argc, char** argv) {
  float* out = profiler::counted<float>(1 << 16);
  if (argc > 1 && std::string(argv[1]) == "layout") {
    show_layout(out);
    return 0;
  }
  const cudaArray_t line = image<float>(kSide, 0, 0), plane = image<float>(kSide, kSide, 0),
                    fours = image<float4>(kSide, kSide, 0), box = image<float>(16, 16, 16);
  for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const std::string name = filter == cudaFilterModePoint ? ".point" : ".linear";
    for (const float shift : {0.5f, 0.75f}) {
      const std::string where = name + (shift == 0.5f ? ".middle" : ".between");
      run("texture.1d" + where, 3, 64, fetch_1d, texture(line, filter), out, shift);
      run("texture.2d" + where, 3, 64, fetch_2d, texture(plane, filter), out, shift);
      run("texture.2d_turned" + where, 3, 64, fetch_2d_turned, texture(plane, filter), out, shift);
      run("texture.2d_four" + where, 3, 64, fetch_2d_four, texture(fours, filter), out, shift);
      run("texture.3d" + where, 3, 64, fetch_3d, texture(box, filter), out, shift);
    }
  }
  const cudaTextureObject_t memory = linear_memory(profiler::counted<float>(1 << 16), 1 << 14);
  for (const int stride : {1, 2, 8})
    run("texture.memory.stride_" + std::to_string(stride), 3, 64, fetch_linear, memory, out,
        stride);
  run("texture.some", 3, 64, fetch_some, texture(plane, cudaFilterModePoint), out);
  run("surface.read_1d", 3, 64, read_1d, surface(line), out);
  run("surface.read_2d", 3, 64, read_2d, surface(plane), out);
  run("surface.write_2d", 3, 64, write_2d, surface(plane), out);
  run("surface.write_2d_four", 3, 64, write_2d_four, surface(fours),
      reinterpret_cast<const float4*>(out));
  run("surface.copy_3d", 3, 64, copy_3d, surface(box), out);

  const cudaTextureObject_t plain = texture(plane, cudaFilterModePoint);
  const cudaSurfaceObject_t flat = surface(plane), deep = surface(box);
  std::vector<profiler::Pattern> some = profiler::few_patterns();
  some.push_back(profiler::lanes("first_five", [](int l) { return l < 5 ? l : -1; }));
  some.push_back(profiler::lanes("last_lane", [](int l) { return l == 31 ? l : -1; }));
  some.push_back(profiler::lanes("every_eighth", [](int l) { return l % 8 == 2 ? l : -1; }));
  some.push_back(profiler::lanes("one_half", [](int l) { return l >= 16 ? l : -1; }));
  for (const profiler::Pattern& pattern : some) {
    profiler::run_pattern("lanes.texture", pattern, fetch_lanes, plain, out);
    profiler::run_pattern("lanes.memory", pattern, fetch_linear_lanes, memory, out);
    profiler::run_pattern("lanes.read", pattern, read_lanes, flat, out);
    profiler::run_pattern("lanes.write", pattern, write_lanes, flat, 1.0f);
    profiler::run_pattern("lanes.write_3d", pattern, write_3d_lanes, deep, 1.0f);
  }
}
