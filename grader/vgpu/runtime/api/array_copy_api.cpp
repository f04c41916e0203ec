// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies to, from and between arrays, in the older spellings beside cudaMemcpy3D. Offsets and
/// widths are bytes here, as those calls have it.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

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

CUDA_CALL cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind) {
  return to_array(to, x, y, from, pitch, {width, height}, kind, nullptr, false);
}

CUDA_CALL cudaMemcpy2DToArray_ptds(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t pitch, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind) {
  return to_array(to, x, y, from, pitch, {width, height}, kind, per_thread(nullptr), false);
}

CUDA_CALL cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                   std::size_t pitch, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return to_array(to, x, y, from, pitch, {width, height}, kind, stream, true);
}

CUDA_CALL cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, std::size_t x, std::size_t y,
                                        const void* from, std::size_t pitch, std::size_t width,
                                        std::size_t height, cudaMemcpyKind kind,
                                        cudaStream_t stream) {
  return to_array(to, x, y, from, pitch, {width, height}, kind, per_thread(stream), true);
}

CUDA_CALL cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                std::size_t y, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
  return from_array(to, pitch, from, x, y, {width, height}, kind, nullptr, false);
}

CUDA_CALL cudaMemcpy2DFromArray_ptds(void* to, std::size_t pitch, cudaArray_const_t from,
                                     std::size_t x, std::size_t y, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind) {
  return from_array(to, pitch, from, x, y, {width, height}, kind, per_thread(nullptr), false);
}

CUDA_CALL cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                     std::size_t x, std::size_t y, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return from_array(to, pitch, from, x, y, {width, height}, kind, stream, true);
}

CUDA_CALL cudaMemcpy2DFromArrayAsync_ptsz(void* to, std::size_t pitch, cudaArray_const_t from,
                                          std::size_t x, std::size_t y, std::size_t width,
                                          std::size_t height, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  return from_array(to, pitch, from, x, y, {width, height}, kind, per_thread(stream), true);
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
