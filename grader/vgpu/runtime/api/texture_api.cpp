// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays, textures, surfaces: making, asking, destroying.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

cudaError_t make_array(cudaArray_t* out, const cudaChannelFormatDesc* format, cudaExtent extent,
                       unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || format == nullptr) return cudaErrorInvalidValue;
    return call.context.arrays.create(call.context.memory, out, *format, extent, flags);
  });
}

template <typename Part>
cudaError_t part_of_texture(Part* out, cudaTextureObject_t object,
                            Part ArrayTable::TextureObject::*part) {
  return api_call(Waits::kNo, [&](Call call) {
    const auto* found = call.context.arrays.texture_object(object);
    if (out == nullptr || found == nullptr) return cudaErrorInvalidValue;
    *out = found->*part;
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                        cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

CUDA_CALL cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format, std::size_t width,
                          std::size_t height, unsigned int flags) {
  return make_array(out, format, {width, height, 0}, flags);
}

CUDA_CALL cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* format,
                            cudaExtent extent, unsigned int flags) {
  return make_array(out, format, extent, flags);
}

CUDA_CALL cudaFreeArray(cudaArray_t array) {
  return api_call(Waits::kYes, [&](Call call) {
    if (array == nullptr) return cudaSuccess;
    return call.context.arrays.destroy(call.context.memory, array) ? cudaSuccess
                                                                   : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* format,
                                   cudaExtent extent, unsigned int levels, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || format == nullptr) return cudaErrorInvalidValue;
    return call.context.arrays.create_mipmapped(call.context.memory, out, *format, extent, levels,
                                                flags);
  });
}

CUDA_CALL cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return api_call(Waits::kYes, [&](Call call) {
    if (array == nullptr) return cudaSuccess;
    return call.context.arrays.destroy_mipmapped(call.context.memory, array)
               ? cudaSuccess
               : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t array,
                                     unsigned int level) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || !call.context.arrays.has(array) || level >= array->levels.size())
      return cudaErrorInvalidValue;
    *out = array->levels[level];
    return cudaSuccess;
  });
}

CUDA_CALL cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                           cudaArray_t array) {
  return api_call(Waits::kNo, [&](Call call) {
    if (!call.context.arrays.has(array)) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

CUDA_CALL cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
  return api_call(Waits::kNo, [&](Call call) {
    if (format == nullptr || !call.context.arrays.has(array)) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

CUDA_CALL cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* description,
                                  const cudaResourceViewDesc* view) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || resource == nullptr || description == nullptr)
      return cudaErrorInvalidValue;
    return call.context.arrays.create_texture(call.context.memory, out, *resource, *description,
                                              view);
  });
}

CUDA_CALL cudaDestroyTextureObject(cudaTextureObject_t object) {
  return api_call(Waits::kNo, [&](Call call) {
    return object == 0 || call.context.arrays.destroy_texture(object) ? cudaSuccess
                                                                      : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
  return part_of_texture(out, object, &ArrayTable::TextureObject::resource);
}

CUDA_CALL cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
  return part_of_texture(out, object, &ArrayTable::TextureObject::description);
}

CUDA_CALL cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                               cudaTextureObject_t object) {
  return part_of_texture(out, object, &ArrayTable::TextureObject::view);
}

CUDA_CALL cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || resource == nullptr) return cudaErrorInvalidValue;
    return call.context.arrays.create_surface(out, *resource);
  });
}

CUDA_CALL cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return api_call(Waits::kNo, [&](Call call) {
    return object == 0 || call.context.arrays.destroy_surface(object) ? cudaSuccess
                                                                      : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) {
  return api_call(Waits::kNo, [&](Call call) {
    const auto* found = call.context.arrays.surface_object(object);
    if (out == nullptr || found == nullptr) return cudaErrorInvalidValue;
    *out = found->resource;
    return cudaSuccess;
  });
}

CUDA_CALL cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width,
                                               const cudaChannelFormatDesc* format, int device) {
  return api_call(Waits::kNo, [&](Call) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (width == nullptr || format == nullptr || !texel_bytes(*format))
      return cudaErrorInvalidValue;
    *width = std::size_t{1} << 28;
    return cudaSuccess;
  });
}
