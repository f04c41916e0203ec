// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/arrays_and_pools.hpp"

#include <algorithm>

namespace membound::vgpu::runtime {
namespace {

constexpr std::uint64_t kRowAlignment = 32;     // textures read whole sectors
constexpr std::uint64_t kArrayAlignment = 512;  // as cudaDeviceProp::textureAlignment says
constexpr unsigned int kLayered = 1;            // cudaArrayLayered
constexpr unsigned int kCubemap = 4;            // cudaArrayCubemap

std::uint32_t channels_of(const cudaChannelFormatDesc& format) {
  return (format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0);
}

memory::ChannelKind kind_of(cudaChannelFormatKind kind) {
  if (kind == cudaChannelFormatKindSigned) return memory::ChannelKind::kSigned;
  if (kind == cudaChannelFormatKindUnsigned) return memory::ChannelKind::kUnsigned;
  return memory::ChannelKind::kFloat;
}

memory::Image describe(const cudaChannelFormatDesc& format, cudaExtent extent, bool layered) {
  memory::Image image;
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = static_cast<std::uint32_t>(std::max<std::size_t>(extent.height, 1));
  const auto slices = static_cast<std::uint32_t>(std::max<std::size_t>(extent.depth, 1));
  (layered ? image.layers : image.depth) = slices;
  image.channels = channels_of(format);
  image.channel_bits = static_cast<std::uint32_t>(format.x);
  image.kind = kind_of(format.f);
  return image;
}

}  // namespace

std::optional<std::uint32_t> texel_bytes(const cudaChannelFormatDesc& format) {
  const std::uint32_t channels = channels_of(format);
  const bool known_bits = format.x == 8 || format.x == 16 || format.x == 32;
  const bool equal = (format.y == 0 || format.y == format.x) &&
                     (format.z == 0 || format.z == format.x) &&
                     (format.w == 0 || format.w == format.x);
  const bool known_kind =
      format.f >= cudaChannelFormatKindSigned && format.f <= cudaChannelFormatKindFloat;
  if (!known_bits || !equal || !known_kind || channels == 0 || channels == 3) return std::nullopt;
  if (format.f == cudaChannelFormatKindFloat && format.x == 8) return std::nullopt;
  return channels * static_cast<std::uint32_t>(format.x) / 8;
}

cudaError_t ArrayTable::create(memory::AddressSpace& memory, cudaArray_t* out,
                               const cudaChannelFormatDesc& format, cudaExtent extent,
                               unsigned int flags) {
  const auto texel = texel_bytes(format);
  if (!texel || extent.width == 0) return cudaErrorInvalidValue;
  auto array = std::make_unique<cudaArray>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  array->image = describe(format, extent, (flags & (kLayered | kCubemap)) != 0);
  memory::Image& image = array->image;
  image.pitch_bytes = (extent.width * *texel + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  image.slice_bytes = image.pitch_bytes * image.height;
  const std::uint64_t bytes = image.slice_bytes * image.depth * image.layers;
  // Kept in rows, but as large as it is on a GPU: caches see each texel where it lies there.
  const std::uint64_t room =
      memory::tiled_bytes(extent.width * *texel, image.height) * image.depth * image.layers;
  const auto address = memory.allocate(std::max(bytes, room), kArrayAlignment,
                                       {memory::AllocationKind::kArray, "cudaMallocArray", false});
  if (!address) return cudaErrorMemoryAllocation;
  array->address = image.device_address = *address;
  image.is_tiled = true;
  image.texels = memory.host_bytes(*address, bytes);
  *out = array.get();
  arrays_.emplace(array.get(), std::move(array));
  return cudaSuccess;
}

bool ArrayTable::destroy(memory::AddressSpace& memory, cudaArray_t array) {
  const auto found = arrays_.find(array);
  if (found == arrays_.end()) return false;
  memory.free(found->second->address);
  arrays_.erase(found);
  return true;
}

cudaError_t ArrayTable::create_mipmapped(memory::AddressSpace& memory, cudaMipmappedArray_t* out,
                                         const cudaChannelFormatDesc& format, cudaExtent extent,
                                         unsigned int levels, unsigned int flags) {
  auto mipmapped = std::make_unique<cudaMipmappedArray>();
  for (unsigned int level = 0; level < std::max(levels, 1u); ++level) {
    cudaArray_t array = nullptr;
    if (const cudaError_t code = create(memory, &array, format, extent, flags);
        code != cudaSuccess) {
      for (cudaArray_t made : mipmapped->levels) destroy(memory, made);
      return code;
    }
    mipmapped->levels.push_back(array);
    const auto halve = [](std::size_t n) { return n == 0 ? 0 : std::max<std::size_t>(n / 2, 1); };
    extent = {halve(extent.width), halve(extent.height),
              (flags & kLayered) ? extent.depth : halve(extent.depth)};
  }
  *out = mipmapped.get();
  mipmapped_.emplace(mipmapped.get(), std::move(mipmapped));
  return cudaSuccess;
}

bool ArrayTable::destroy_mipmapped(memory::AddressSpace& memory, cudaMipmappedArray_t array) {
  const auto found = mipmapped_.find(array);
  if (found == mipmapped_.end()) return false;
  for (cudaArray_t level : found->second->levels) destroy(memory, level);
  mipmapped_.erase(found);
  return true;
}

bool ArrayTable::has(cudaArray_const_t array) const { return arrays_.contains(array); }

bool ArrayTable::has(cudaMipmappedArray_const_t array) const { return mipmapped_.contains(array); }

std::optional<memory::Image> ArrayTable::image_of(memory::AddressSpace& memory,
                                                  const cudaResourceDesc& resource) const {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      if (!has(resource.res.array.array)) return std::nullopt;
      return resource.res.array.array->image;
    case cudaResourceTypeMipmappedArray:
      if (!has(resource.res.mipmap.mipmap)) return std::nullopt;
      return resource.res.mipmap.mipmap->levels.front()->image;
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      const auto texel = texel_bytes(linear.desc);
      if (!texel) return std::nullopt;
      memory::Image image = describe(linear.desc, {linear.sizeInBytes / *texel, 1, 1}, false);
      image.device_address = reinterpret_cast<std::uint64_t>(linear.devPtr);
      image.texels = memory.host_bytes(image.device_address, linear.sizeInBytes);
      image.pitch_bytes = image.slice_bytes = linear.sizeInBytes;
      return image.texels ? std::optional(image) : std::nullopt;
    }
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      const auto texel = texel_bytes(pitched.desc);
      if (!texel || pitched.width * *texel > pitched.pitchInBytes) return std::nullopt;
      memory::Image image = describe(pitched.desc, {pitched.width, pitched.height, 1}, false);
      image.device_address = reinterpret_cast<std::uint64_t>(pitched.devPtr);
      image.pitch_bytes = pitched.pitchInBytes;
      image.slice_bytes = pitched.pitchInBytes * pitched.height;
      const std::uint64_t used =
          pitched.pitchInBytes * (image.height - 1) + std::uint64_t{image.width} * *texel;
      image.texels = memory.host_bytes(image.device_address, used);
      return image.texels ? std::optional(image) : std::nullopt;
    }
  }
  return std::nullopt;
}

cudaError_t ArrayTable::create_texture(memory::AddressSpace& memory, cudaTextureObject_t* out,
                                       const cudaResourceDesc& resource,
                                       const cudaTextureDesc& description,
                                       const cudaResourceViewDesc* view) {
  const auto image = image_of(memory, resource);
  if (!image) return cudaErrorInvalidValue;
  // Linear blending needs floats: either the texels or what they are read as.
  if (description.filterMode == cudaFilterModeLinear &&
      image->kind != memory::ChannelKind::kFloat &&
      description.readMode != cudaReadModeNormalizedFloat)
    return cudaErrorInvalidFilterSetting;
  if (description.readMode == cudaReadModeNormalizedFloat && image->channel_bits == 32 &&
      image->kind != memory::ChannelKind::kFloat)
    return cudaErrorInvalidNormSetting;
  TextureObject object{{}, resource, description, view ? *view : cudaResourceViewDesc{}};
  memory::Texture& texture = object.texture;
  texture.image = *image;
  for (int i = 0; i < 3; ++i)
    texture.address[i] = static_cast<memory::AddressMode>(description.addressMode[i]);
  texture.filter = description.filterMode == cudaFilterModeLinear ? memory::FilterMode::kLinear
                                                                  : memory::FilterMode::kPoint;
  texture.normalized_coordinates = description.normalizedCoords != 0;
  texture.read_normalized_float = description.readMode == cudaReadModeNormalizedFloat &&
                                  image->kind != memory::ChannelKind::kFloat;
  texture.linear_memory = resource.resType == cudaResourceTypeLinear;
  // Wrap and mirror are defined for normalised coordinates only; otherwise they clamp.
  if (!texture.normalized_coordinates)
    for (auto& mode : texture.address)
      if (mode == memory::AddressMode::kWrap || mode == memory::AddressMode::kMirror)
        mode = memory::AddressMode::kClamp;
  texture.level_filter = description.mipmapFilterMode == cudaFilterModeLinear
                             ? memory::FilterMode::kLinear
                             : memory::FilterMode::kPoint;
  texture.level_bias = description.mipmapLevelBias;
  texture.lowest_level = description.minMipmapLevelClamp;
  texture.highest_level = description.maxMipmapLevelClamp;
  if (resource.resType == cudaResourceTypeMipmappedArray) {
    const std::vector<cudaArray_t>& levels = resource.res.mipmap.mipmap->levels;
    for (std::size_t i = 1; i < levels.size(); ++i) texture.smaller.push_back(levels[i]->image);
  }
  std::copy(std::begin(description.borderColor), std::end(description.borderColor),
            texture.border.begin());
  *out = next_handle_++;
  textures_.emplace(*out, object);
  return cudaSuccess;
}

cudaError_t ArrayTable::create_surface(cudaSurfaceObject_t* out, const cudaResourceDesc& resource) {
  if (resource.resType != cudaResourceTypeArray || !has(resource.res.array.array))
    return cudaErrorInvalidValue;
  *out = next_handle_++;
  surfaces_.emplace(*out, SurfaceObject{{resource.res.array.array->image}, resource});
  return cudaSuccess;
}

const ArrayTable::TextureObject* ArrayTable::texture_object(cudaTextureObject_t handle) const {
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : &found->second;
}

const ArrayTable::SurfaceObject* ArrayTable::surface_object(cudaSurfaceObject_t handle) const {
  const auto found = surfaces_.find(handle);
  return found == surfaces_.end() ? nullptr : &found->second;
}

const memory::Texture* ArrayTable::texture(std::uint64_t handle) const {
  const TextureObject* object = texture_object(handle);
  return object ? &object->texture : nullptr;
}

const memory::Surface* ArrayTable::surface(std::uint64_t handle) const {
  const SurfaceObject* object = surface_object(handle);
  return object ? &object->surface : nullptr;
}

bool PoolTable::set_current(cudaMemPool_t pool) {
  if (find(pool) == nullptr) return false;
  current_ = pool;
  return true;
}

cudaMemPool_t PoolTable::create() {
  auto pool = std::make_unique<CUmemPoolHandle_st>();
  const cudaMemPool_t handle = pool.get();
  pools_.emplace(handle, std::move(pool));
  return handle;
}

bool PoolTable::destroy(cudaMemPool_t pool) {
  if (current_ == pool) current_ = &default_;
  return pools_.erase(pool) > 0;
}

CUmemPoolHandle_st* PoolTable::find(cudaMemPool_t pool) {
  if (pool == &default_) return &default_;
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nullptr : found->second.get();
}

void PoolTable::note_allocation(cudaMemPool_t pool, std::uint64_t address, std::uint64_t bytes) {
  pool->used_bytes += bytes;
  pool->used_high_bytes = std::max(pool->used_high_bytes, pool->used_bytes);
  allocations_[address] = {pool, bytes};
}

void PoolTable::note_free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  if (CUmemPoolHandle_st* pool = find(found->second.pool)) pool->used_bytes -= found->second.bytes;
  allocations_.erase(found);
}

void PoolTable::reset() {
  pools_.clear();
  allocations_.clear();
  default_ = CUmemPoolHandle_st();
  current_ = &default_;
}

}  // namespace membound::vgpu::runtime
