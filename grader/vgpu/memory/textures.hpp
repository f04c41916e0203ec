// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What texture and surface instructions need to know of an object made by the runtime: where its
/// texels are, how they are coded, and how coordinates outside are answered.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace membound::vgpu::memory {

/// How a channel's bits are to be read.
enum class ChannelKind { kSigned, kUnsigned, kFloat };
/// What a coordinate outside the image means (cudaTextureAddressMode).
enum class AddressMode { kWrap, kClamp, kMirror, kBorder };
/// Nearest texel, or linear blend with weights in 1.8 fixed point.
enum class FilterMode { kPoint, kLinear };

/// Texels in memory: rows of `pitch_bytes`, slices (of depth or layers) of `slice_bytes`.
struct Image {
  std::byte* texels = nullptr;       ///< host bytes
  std::uint64_t device_address = 0;  ///< for counting sectors; 0 for an opaque array
  std::uint32_t width = 1;
  std::uint32_t height = 1;  ///< 1 for 1D
  std::uint32_t depth = 1;   ///< slices of a 3D image
  std::uint32_t layers = 1;
  std::uint64_t pitch_bytes = 0;
  std::uint64_t slice_bytes = 0;
  std::uint32_t channels = 1;       ///< 1, 2 or 4
  std::uint32_t channel_bits = 32;  ///< 8, 16 or 32
  ChannelKind kind = ChannelKind::kFloat;
};

/// A texture object.
struct Texture {
  Image image;
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  FilterMode filter = FilterMode::kPoint;
  bool normalized_coordinates = false;
  bool read_normalized_float = false;  ///< 8- and 16-bit integers become 0..1 or -1..1
  bool linear_memory = false;          ///< bound to linear memory: integer fetches, 0 outside
  std::array<float, 4> border{0, 0, 0, 0};
  std::vector<Image>
      smaller{};  ///< levels of detail 1, 2, … of a mipmapped array; `image` is level 0
  FilterMode level_filter = FilterMode::kPoint;  ///< nearest level, or two levels blended
  float level_bias = 0, lowest_level = 0, highest_level = 0;
};

/// What a surface instruction does with an offset outside the image.
struct Surface {
  Image image;
};

/// Finds objects by the 64-bit handle a kernel holds; null for a handle nobody made.
class TextureTable {
 public:
  virtual ~TextureTable() = default;
  [[nodiscard]] virtual const Texture* texture(std::uint64_t handle) const = 0;
  [[nodiscard]] virtual const Surface* surface(std::uint64_t handle) const = 0;
};

}  // namespace membound::vgpu::memory
