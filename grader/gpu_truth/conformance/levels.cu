// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: levels of detail, cube maps, gathers, formatted surface stores, surface reductions,
/// questions about sizes (PTX ISA 9.0, "Texture Instructions", "Surface Instructions").
#include "grader/gpu_truth/conformance/texture_objects.cuh"

namespace {

using namespace conformance;  // NOLINT: a program of its own

constexpr int kWidth = 16, kHeight = 8, kSide = 4, kLayers = 2;

enum TextureName { kNearestLevel, kBlendedLevels, kCube, kCubes, kFour, kNames };
enum SurfaceName { kFloats, kHalves, kBytes, kShorts, kPairs, kCounts, kWideCounts, kSurfaces };

__device__ cudaTextureObject_t textures[kNames];
__device__ cudaSurfaceObject_t surfaces[kSurfaces];

/// Level n holds 100 n + a small number for each texel.
cudaTextureObject_t levels_of_detail(cudaTextureFilterMode between) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t array = nullptr;
  must(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(kWidth, kHeight, 0), 4),
       "cudaMallocMipmappedArray");
  for (unsigned level = 0; level < 4; ++level) {
    const int width = kWidth >> level, height = kHeight >> level;
    std::vector<float> values(width * height);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 100.0f * level + (i * 7 % 32);
    cudaArray_t plane = nullptr;
    must(cudaGetMipmappedArrayLevel(&plane, array, level), "cudaGetMipmappedArrayLevel");
    must(cudaMemcpy2DToArray(plane, 0, 0, values.data(), width * sizeof(float),
                             width * sizeof(float), height, cudaMemcpyHostToDevice),
         "cudaMemcpy2DToArray");
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array;
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.mipmapFilterMode = between;
  description.normalizedCoords = 1;
  description.maxMipmapLevelClamp = 3;
  cudaTextureObject_t texture = 0;
  must(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
       "cudaCreateTextureObject");
  return texture;
}

float number(int i) { return static_cast<float>(i); }

void setup() {
  cudaTextureObject_t all[kNames];
  all[kNearestLevel] = levels_of_detail(cudaFilterModePoint);
  all[kBlendedLevels] = levels_of_detail(cudaFilterModeLinear);
  const Look cube{cudaAddressModeClamp, cudaFilterModePoint, true, false};
  all[kCube] = texture_of(
      resource_of(array_of<float>(make_cudaExtent(kSide, kSide, 6), cudaArrayCubemap, number)),
      cube);
  all[kCubes] =
      texture_of(resource_of(array_of<float>(make_cudaExtent(kSide, kSide, 6 * kLayers),
                                             cudaArrayCubemap | cudaArrayLayered, number)),
                 cube);
  all[kFour] = texture_of(
      resource_of(array_of<float4>(make_cudaExtent(kWidth, kHeight, 0), cudaArrayTextureGather,
                                   [](int i) { return make_float4(i, 1000 + i, 2000 + i, -i); })),
      {});
  must(cudaMemcpyToSymbol(textures, all, sizeof all), "cudaMemcpyToSymbol");

  const cudaExtent plane = make_cudaExtent(kWidth, kHeight, 0);
  const unsigned flag = cudaArraySurfaceLoadStore;
  cudaSurfaceObject_t made[kSurfaces];
  made[kFloats] = surface_of(array_of<float4>(plane, flag, [](int) { return float4{}; }));
  made[kHalves] = surface_of(array_of<__half>(plane, flag, [](int) { return __half{}; }));
  made[kBytes] = surface_of(array_of<uchar4>(plane, flag, [](int) { return uchar4{}; }));
  made[kShorts] = surface_of(array_of<short2>(plane, flag, [](int) { return short2{}; }));
  made[kPairs] =
      surface_of(array_of<uint2>(plane, flag, [](int i) { return make_uint2(i * 3, ~0u - i); }));
  made[kCounts] = surface_of(array_of<int>(plane, flag, [](int i) { return i % 16 * 10 - 50; }));
  made[kWideCounts] =
      surface_of(array_of<uint2>(plane, flag, [](int) { return make_uint2(~0u, 1); }));
  must(cudaMemcpyToSymbol(surfaces, made, sizeof made), "cudaMemcpyToSymbol");
}

__device__ void store(std::uint32_t* out, int index, float value) {
  out[index] = __float_as_uint(value);
}

}  // namespace

CASE(tex2d_level_nearest, 64) {
  for (int i = lane; i < 64; i += 32)
    store(out, i,
          tex2DLod<float>(textures[kNearestLevel], (i % 8 + 0.3f) / 8, (i / 8 + 0.3f) / 8,
                          i % 13 * 0.375f - 0.4f));
}
CASE(tex2d_level_blended, 64) {
  for (int i = lane; i < 64; i += 32)
    store(out, i,
          tex2DLod<float>(textures[kBlendedLevels], (i % 4 + 0.5f) / 8, (i / 16 + 0.5f) / 8,
                          i % 16 * 0.25f));
}
CASE(tex2d_gradients, 32) {
  const float across = exp2f(static_cast<float>(lane % 5 - 1)) / kWidth;
  const float down = exp2f(static_cast<float>(lane / 8)) / kHeight;
  store(out, lane,
        tex2DGrad<float>(textures[kNearestLevel], 0.4f, 0.7f, make_float2(across, 0),
                         make_float2(0, down)));
}
CASE(tex2d_without_level, 32) {
  store(out, lane, tex2DLod<float>(textures[kNearestLevel], lane / 32.0f, 0.5f, 0));
}
CASE(texcubemap, 192) {
  for (int i = lane; i < 192; i += 32) {
    const int face = i / 32, across = i % 32 % 8, down = i % 32 / 8;
    const float u = (across + 0.4f) / 4 - 1, v = (down + 0.6f) / 2 - 1;
    const float x = face == 0 ? 1 : face == 1 ? -1 : u;
    const float y = face == 2 ? 1 : face == 3 ? -1 : face < 2 ? u : v;
    const float z = face == 4 ? 1 : face == 5 ? -1 : v;
    store(out, i, texCubemap<float>(textures[kCube], 2 * x, 2 * y, 2 * z));
  }
}
CASE(texcubemap_layered, 64) {
  for (int i = lane; i < 64; i += 32) {
    const float x = i % 7 - 3.24f, y = i % 5 - 2.17f, z = i % 3 - 1.31f;
    store(out, i, texCubemapLayered<float>(textures[kCubes], x, y, z, i / 32));
  }
}
CASE(tex2d_gather_components, 512) {
  const float x = lane % 16 + 0.1f, y = lane / 4 + 0.8f;
  put(out, lane, tex2Dgather<float4>(textures[kFour], x, y, 0));
  put(out, lane + 32, tex2Dgather<float4>(textures[kFour], x, y, 1));
  put(out, lane + 64, tex2Dgather<float4>(textures[kFour], x, y, 2));
  put(out, lane + 96, tex2Dgather<float4>(textures[kFour], x, y, 3));
}
CASE(texture_and_surface_sizes, 4) {
  if (lane == 0) {
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(textures[kFour]));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(textures[kFour]));
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[2]) : "l"(surfaces[kHalves]));
    asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[3]) : "l"(surfaces[kHalves]));
  }
}
CASE(surface_forms, 224) {
  const int x = lane % kWidth, y = lane / kWidth;
  const cudaSurfaceObject_t surface = surfaces[kPairs];
  put(out, lane, surf2Dread<uint2>(surface, x * 8, y));
  out[64 + lane] = surf2Dread<unsigned>(surface, x * 8 + 4, y);
  out[96 + lane] = surf2Dread<unsigned short>(surface, x * 8 + 2, y);
  out[128 + lane] = surf2Dread<unsigned char>(surface, x * 8 + 1, y);
  put(out, 80 + lane, surf2Dread<unsigned long long>(surface, x * 8, y));
}

/// `sust.p.2d.v4.b32` of four words, read back as the words of the texel.
#define FORMATTED(name, target, words, a, b, c, d)                                                 \
  CASE(name, 32 * words) {                                                                         \
    const int x = lane % kWidth, y = lane / kWidth;                                                \
    const std::uint32_t i = lane;                                                                  \
    asm volatile(                                                                                  \
        "sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(surfaces[target]), "r"(x), \
        "r"(y), "r"(a), "r"(b), "r"(c), "r"(d)                                                     \
        : "memory");                                                                               \
    __syncwarp();                                                                                  \
    for (int word = 0; word < words; ++word)                                                       \
      out[lane * words + word] =                                                                   \
          surf2Dread<unsigned>(surfaces[target], (x * words + word) * 4, y);                       \
  }
FORMATTED(surface_store_formatted_float, kFloats, 4, __float_as_uint(i * 0.5f), 0x7FC00001u,
          0x80000000u + i, i)
FORMATTED(surface_store_formatted_bytes, kBytes, 1, i * 9, i * 3 + 250, ~i, 0x12345600u + i)
FORMATTED(surface_store_formatted_shorts, kShorts, 1, i * 5000, 0u - i * 3000, 1, 2)
CASE(surface_store_formatted_half, 32) {
  const int x = lane % kWidth, y = lane / kWidth;
  const float value = conformance::input_F32(lane);
  asm volatile("sust.p.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surfaces[kHalves]), "r"(x), "r"(y),
               "r"(__float_as_uint(value))
               : "memory");
  __syncwarp();
  out[lane] = surf2Dread<unsigned short>(surfaces[kHalves], x * 2, y);
}

/// All lanes reduce into one row of integers.
#define REDUCTION(name, text, constraint, cast, target, scale, words)                        \
  CASE(name, 16) {                                                                           \
    asm volatile(text " [%0, {%1, %2}], %3;" ::"l"(surfaces[target]), "r"(lane % 8 * scale), \
                 "r"(target##_row_##name), constraint(static_cast<cast>(lane * 3 - 20))      \
                 : "memory");                                                                \
    __syncthreads();                                                                         \
    if (lane < 16)                                                                           \
      out[lane] = surf2Dread<unsigned>(surfaces[target], lane * 4, target##_row_##name);     \
  }
constexpr int kCounts_row_surface_reduction_add = 0, kCounts_row_surface_reduction_min = 1,
              kCounts_row_surface_reduction_max = 2, kCounts_row_surface_reduction_and = 3,
              kCounts_row_surface_reduction_or = 4, kCounts_row_surface_reduction_formatted = 5,
              kWideCounts_row_surface_reduction_wide = 0;
REDUCTION(surface_reduction_add, "sured.b.add.2d.u32.trap", "r", std::uint32_t, kCounts, 4, 1)
REDUCTION(surface_reduction_min, "sured.b.min.2d.s32.trap", "r", std::uint32_t, kCounts, 4, 1)
REDUCTION(surface_reduction_max, "sured.b.max.2d.u32.trap", "r", std::uint32_t, kCounts, 4, 1)
REDUCTION(surface_reduction_and, "sured.b.and.2d.b32.trap", "r", std::uint32_t, kCounts, 4, 1)
REDUCTION(surface_reduction_or, "sured.b.or.2d.b32.trap", "r", std::uint32_t, kCounts, 4, 1)
REDUCTION(surface_reduction_formatted, "sured.p.add.2d.b32.trap", "r", std::uint32_t, kCounts, 1, 1)
REDUCTION(surface_reduction_wide, "sured.b.add.2d.u64.trap", "l", std::uint64_t, kWideCounts, 8, 2)

CONFORMANCE_MAIN_AFTER(setup)
