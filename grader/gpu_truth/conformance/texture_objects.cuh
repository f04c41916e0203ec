// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays, textures and surfaces for the conformance programs that sample them.
#pragma once

#include <cuda_fp16.h>

#include "grader/gpu_truth/conformance/conformance.cuh"

namespace conformance {

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("setup: error %s in %s\n", cudaGetErrorName(error), what);
  std::exit(1);
}

struct Look {
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool normalized_coordinates = false;
  bool normalized_values = false;
};

inline cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const Look& look) {
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = look.address;
  description.filterMode = look.filter;
  description.normalizedCoords = look.normalized_coordinates;
  description.readMode =
      look.normalized_values ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  description.borderColor[0] = 0.25f;
  cudaTextureObject_t texture = 0;
  must(cudaCreateTextureObject(&texture, &resource, &description, nullptr),
       "cudaCreateTextureObject");
  return texture;
}

template <typename T>
cudaChannelFormatDesc format_of() {
  return cudaCreateChannelDesc<T>();
}
template <>
inline cudaChannelFormatDesc format_of<__half>() {
  return cudaCreateChannelDescHalf();
}

/// An array of `extent` filled with `fill(i)` for element i.
template <typename T, typename Fill>
cudaArray_t array_of(cudaExtent extent, unsigned flags, Fill fill) {
  const std::size_t width = extent.width;
  const std::size_t height = extent.height == 0 ? 1 : extent.height;
  const std::size_t depth = extent.depth == 0 ? 1 : extent.depth;
  std::vector<T> values(width * height * depth);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = fill(static_cast<int>(i));
  const cudaChannelFormatDesc format = format_of<T>();
  cudaArray_t array = nullptr;
  must(cudaMalloc3DArray(&array, &format, extent, flags), "cudaMalloc3DArray");
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), width * sizeof(T), width, height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, height, depth);
  copy.kind = cudaMemcpyHostToDevice;
  must(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  return array;
}

inline cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

inline cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaSurfaceObject_t object = 0;
  const cudaResourceDesc resource = resource_of(array);
  must(cudaCreateSurfaceObject(&object, &resource), "cudaCreateSurfaceObject");
  return object;
}

}  // namespace conformance
