// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A picture of floats as kernels read it through the texture units: a cudaArray and a texture
/// object over it, on a GPU, on the virtual one, or in a runner.
#pragma once

#include <cstddef>
#include <utility>

#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::harness {

/// Owns both, on the device that is current when it is made; movable. A fetch at (x + 0.5f, y +
/// 0.5f) gives the pixel in column x of row y; outside the picture, the nearest pixel. No filter.
class DeviceTexture {
 public:
  DeviceTexture() = default;
  /// At most 131,072 x 65,536 pixels, not initialised; of none, there is no object.
  DeviceTexture(std::size_t width, std::size_t height) : width_(width), height_(height) {
    if (width == 0 || height == 0) return;
    const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
    cuda_check(cudaMallocArray(&array_, &floats, width, height, 0), "allocating an array");
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    cuda_check(cudaCreateTextureObject(&object_, &resource, &how, nullptr), "making a texture");
  }
  DeviceTexture(DeviceTexture&& other) noexcept { *this = std::move(other); }
  DeviceTexture& operator=(DeviceTexture&& other) noexcept {
    std::swap(array_, other.array_);
    std::swap(object_, other.object_);
    std::swap(width_, other.width_);
    std::swap(height_, other.height_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceTexture() {
    if (array_ == nullptr) return;
    const DeviceScope on(device_);
    cudaDestroyTextureObject(object_);
    cudaFreeArray(array_);
  }

  /// Copies the picture from device memory, where its rows stand one after the other.
  void fill(const void* d_rows) {
    const std::size_t row_bytes = width_ * sizeof(float);
    if (array_ != nullptr)
      cuda_check(cudaMemcpy2DToArray(array_, 0, 0, d_rows, row_bytes, row_bytes, height_,
                                     cudaMemcpyDeviceToDevice),
                 "copying to an array");
  }

  /// What the kernel takes; 0 where there is none.
  [[nodiscard]] cudaTextureObject_t object() const { return object_; }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t object_ = 0;
  std::size_t width_ = 0, height_ = 0;
  int device_ = DeviceScope::current();
};

}  // namespace membound::harness
