// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA arrays, mipmapped arrays, the texture and surface objects over them, and memory pools. Left
/// out: block-compressed and planar formats, sparse arrays, sampling (exec); when a pool's memory
/// goes back to the system, which does not change what a program computes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/textures.hpp"

/// An array: texels in rows, in the device's memory. Layers and depth share the third extent.
struct cudaArray {
  cudaChannelFormatDesc format = {};
  cudaExtent extent = {};  // as asked for: 0 where there is no such dimension
  unsigned int flags = 0;
  membound::vgpu::memory::Image image = {};
  std::uint64_t address = 0;
};

/// Levels of halved extents.
struct cudaMipmappedArray {
  std::vector<cudaArray_t> levels;
};

namespace membound::vgpu::runtime {

/// Bytes of one texel, or nothing for a format the virtual GPU does not have.
[[nodiscard]] std::optional<std::uint32_t> texel_bytes(const cudaChannelFormatDesc& format);

/// All arrays and all texture and surface objects.
class ArrayTable final : public memory::TextureTable {
 public:
  struct TextureObject {
    memory::Texture texture;
    cudaResourceDesc resource;
    cudaTextureDesc description;
    cudaResourceViewDesc view;
  };
  struct SurfaceObject {
    memory::Surface surface;
    cudaResourceDesc resource;
  };

  cudaError_t create(memory::AddressSpace& memory, cudaArray_t* out,
                     const cudaChannelFormatDesc& format, cudaExtent extent, unsigned int flags);
  bool destroy(memory::AddressSpace& memory, cudaArray_t array);
  cudaError_t create_mipmapped(memory::AddressSpace& memory, cudaMipmappedArray_t* out,
                               const cudaChannelFormatDesc& format, cudaExtent extent,
                               unsigned int levels, unsigned int flags);
  bool destroy_mipmapped(memory::AddressSpace& memory, cudaMipmappedArray_t array);
  [[nodiscard]] bool has(cudaArray_const_t array) const;
  [[nodiscard]] bool has(cudaMipmappedArray_const_t array) const;

  cudaError_t create_texture(memory::AddressSpace& memory, cudaTextureObject_t* out,
                             const cudaResourceDesc& resource, const cudaTextureDesc& description,
                             const cudaResourceViewDesc* view);
  cudaError_t create_surface(cudaSurfaceObject_t* out, const cudaResourceDesc& resource);
  bool destroy_texture(cudaTextureObject_t handle) { return textures_.erase(handle) > 0; }
  bool destroy_surface(cudaSurfaceObject_t handle) { return surfaces_.erase(handle) > 0; }
  [[nodiscard]] const TextureObject* texture_object(cudaTextureObject_t handle) const;
  [[nodiscard]] const SurfaceObject* surface_object(cudaSurfaceObject_t handle) const;

  [[nodiscard]] const memory::Texture* texture(std::uint64_t handle) const override;
  [[nodiscard]] const memory::Surface* surface(std::uint64_t handle) const override;

 private:
  std::optional<memory::Image> image_of(memory::AddressSpace& memory,
                                        const cudaResourceDesc& resource) const;

  std::map<cudaArray_const_t, std::unique_ptr<cudaArray>> arrays_;
  std::map<cudaMipmappedArray_const_t, std::unique_ptr<cudaMipmappedArray>> mipmapped_;
  std::map<std::uint64_t, TextureObject> textures_;
  std::map<std::uint64_t, SurfaceObject> surfaces_;
  std::uint64_t next_handle_ = 1;
};

}  // namespace membound::vgpu::runtime

/// A pool.
struct CUmemPoolHandle_st {
  std::uint64_t used_bytes = 0;
  std::uint64_t used_high_bytes = 0;
  std::uint64_t release_threshold = 0;
  int follow_event_dependencies = 1;
  int allow_opportunistic = 1;
  int allow_internal_dependencies = 1;
};

namespace membound::vgpu::runtime {

/// All pools. The default one is there from the start.
class PoolTable {
 public:
  PoolTable() : current_(&default_) {}
  PoolTable(const PoolTable&) = delete;
  PoolTable& operator=(const PoolTable&) = delete;

  [[nodiscard]] cudaMemPool_t default_pool() { return &default_; }
  [[nodiscard]] cudaMemPool_t current() const { return current_; }
  bool set_current(cudaMemPool_t pool);
  cudaMemPool_t create();
  bool destroy(cudaMemPool_t pool);
  /// Null for a handle nobody made.
  [[nodiscard]] CUmemPoolHandle_st* find(cudaMemPool_t pool);

  void note_allocation(cudaMemPool_t pool, std::uint64_t address, std::uint64_t bytes);
  void note_free(std::uint64_t address);
  void reset();

 private:
  struct Owned {
    cudaMemPool_t pool;
    std::uint64_t bytes;
  };
  CUmemPoolHandle_st default_;
  cudaMemPool_t current_;
  std::map<cudaMemPool_t, std::unique_ptr<CUmemPoolHandle_st>> pools_;
  std::map<std::uint64_t, Owned> allocations_;
};

}  // namespace membound::vgpu::runtime
