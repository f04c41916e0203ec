// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays, textures, surfaces: making, asking, destroying; and copies to, from and between arrays,
/// in the older spellings beside cudaMemcpy3D. Offsets and widths are bytes there, as those calls
/// have it.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
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

/// A rectangle of an array, as the end of a copy; nothing when it leaves the array.
std::optional<CopyEnd> rectangle(const Context& only, cudaArray_const_t array, std::size_t x_bytes,
                                 std::size_t y, std::size_t width_bytes, std::size_t height) {
  if (!only.arrays.has(array)) return std::nullopt;
  const memory::Image& image = array->image;
  const std::size_t row = std::size_t{image.width} * image.channels * image.channel_bits / 8;
  if (x_bytes + width_bytes > row || y + height > image.height) return std::nullopt;
  return CopyEnd{array->address + y * image.pitch_bytes + x_bytes, image.pitch_bytes,
                 image.slice_bytes, true};
}

CopyEnd plain(const void* pointer, std::size_t pitch) {
  return {reinterpret_cast<std::uint64_t>(pointer), pitch, 0, false};
}

struct Box {
  std::size_t width_bytes;
  std::size_t height;
};

/// `make` fills in both ends or fails.
template <typename Make>
cudaError_t array_copy(cudaStream_t stream, bool asynchronous, cudaMemcpyKind kind, Box box,
                       Make make) {
  return api_call(asynchronous ? Waits::kNo : Waits::kYes, [&](Call call) -> cudaError_t {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    CopyOperation copy;
    copy.width_bytes = box.width_bytes;
    copy.height = box.height;
    if (!make(call.context, copy)) return cudaErrorInvalidValue;
    if (const cudaError_t code = check_copy(call.context, copy, kind); code != cudaSuccess)
      return code;
    if (!asynchronous) return submit_and_wait(call.context, call.lock, *target, copy);
    return submit(call.context, call.lock, *target, copy).code;
  });
}

cudaError_t to_array(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                     std::size_t pitch, Box box, cudaMemcpyKind kind, cudaStream_t stream,
                     bool asynchronous) {
  return array_copy(stream, asynchronous, kind, box, [&](Context& only, CopyOperation& copy) {
    const auto end = rectangle(only, to, x, y, box.width_bytes, box.height);
    if (end) copy.to = *end;
    copy.from = plain(from, pitch);
    return end.has_value();
  });
}

cudaError_t from_array(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                       std::size_t y, Box box, cudaMemcpyKind kind, cudaStream_t stream,
                       bool asynchronous) {
  return array_copy(stream, asynchronous, kind, box, [&](Context& only, CopyOperation& copy) {
    const auto end = rectangle(only, from, x, y, box.width_bytes, box.height);
    if (end) copy.from = *end;
    copy.to = plain(to, pitch);
    return end.has_value();
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

CUDA_DEFAULT_STREAM_CALL(cudaMemcpy2DToArray,
                         (cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                          std::size_t pitch, std::size_t width, std::size_t height,
                          cudaMemcpyKind kind),
                         to_array(to, x, y, from, pitch, {width, height}, kind, stream, false))

CUDA_STREAM_CALL(cudaMemcpy2DToArrayAsync,
                 (cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                  std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 (to, x, y, from, pitch, width, height, kind, stream)) {
  return to_array(to, x, y, from, pitch, {width, height}, kind, stream, true);
}

CUDA_DEFAULT_STREAM_CALL(cudaMemcpy2DFromArray,
                         (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                          std::size_t y, std::size_t width, std::size_t height,
                          cudaMemcpyKind kind),
                         from_array(to, pitch, from, x, y, {width, height}, kind, stream, false))

CUDA_STREAM_CALL(cudaMemcpy2DFromArrayAsync,
                 (void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
                  std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 (to, pitch, from, x, y, width, height, kind, stream)) {
  return from_array(to, pitch, from, x, y, {width, height}, kind, stream, true);
}

CUDA_CALL cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                   std::size_t width, std::size_t height, cudaMemcpyKind) {
  return array_copy(nullptr, false, cudaMemcpyDeviceToDevice, {width, height},
                    [&](Context& only, CopyOperation& copy) {
                      const auto target = rectangle(only, to, to_x, to_y, width, height);
                      const auto source = rectangle(only, from, from_x, from_y, width, height);
                      if (target) copy.to = *target;
                      if (source) copy.from = *source;
                      return target && source;
                    });
}

CUDA_CALL cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                        cudaArray_const_t from, std::size_t from_x,
                                        std::size_t from_y, std::size_t width, std::size_t height,
                                        cudaMemcpyKind kind) {
  return cudaMemcpy2DArrayToArray(to, to_x, to_y, from, from_x, from_y, width, height, kind);
}

// One row of an array, or whole rows from the left edge: what these may name.

CUDA_CALL cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                            std::size_t bytes, cudaMemcpyKind kind) {
  if (to == nullptr) return remember_error(cudaErrorInvalidValue);
  const std::size_t row =
      std::size_t{to->image.width} * to->image.channels * to->image.channel_bits / 8;
  if (x + bytes <= row) return to_array(to, x, y, from, bytes, {bytes, 1}, kind, nullptr, false);
  if (x != 0 || bytes % row != 0) return remember_error(cudaErrorInvalidValue);
  return to_array(to, 0, y, from, row, {row, bytes / row}, kind, nullptr, false);
}

CUDA_CALL cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                              std::size_t bytes, cudaMemcpyKind kind) {
  if (from == nullptr) return remember_error(cudaErrorInvalidValue);
  const std::size_t row =
      std::size_t{from->image.width} * from->image.channels * from->image.channel_bits / 8;
  if (x + bytes <= row) return from_array(to, bytes, from, x, y, {bytes, 1}, kind, nullptr, false);
  if (x != 0 || bytes % row != 0) return remember_error(cudaErrorInvalidValue);
  return from_array(to, row, from, 0, y, {row, bytes / row}, kind, nullptr, false);
}
