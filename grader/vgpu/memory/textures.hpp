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
  std::uint64_t device_address = 0;  ///< where caches find them
  bool is_tiled = false;             ///< an array: on a GPU its texels do not lie in rows
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

/// Arrays are block-linear: bytes by rows lie in blocks of 64 x 8 (a GOB), these in columns of at
/// most 16. In a GOB 16 bytes of two rows are a sector, and two by two sectors a line: 32 bytes of
/// four rows. Published in the Tegra X1 manual ("Block Linear") and by the Nouveau project; the
/// profiler of an H200 says the same of sectors, that of an H100 of sectors and lines
/// (gpu_truth/profiler/textures.cu, `layout`). Columns of GOBs are modelled.
inline constexpr std::uint32_t kGobWidthBytes = 64, kGobRows = 8, kGobBytes = 512, kMostGobs = 16;

/// GOBs in a column of an image that has so many rows: fewer where 16 would be mostly empty.
[[nodiscard]] constexpr std::uint32_t gobs_of_column(std::uint32_t rows) {
  std::uint32_t gobs = kMostGobs;
  while (gobs > 1 && gobs * kGobRows / 2 >= rows) gobs /= 2;
  return gobs;
}
/// Bytes that one slice of an array takes in this layout.
[[nodiscard]] constexpr std::uint64_t tiled_bytes(std::uint64_t row_bytes, std::uint32_t rows) {
  const std::uint64_t column_rows = std::uint64_t{gobs_of_column(rows)} * kGobRows;
  return (row_bytes + kGobWidthBytes - 1) / kGobWidthBytes * kGobWidthBytes *
         ((rows + column_rows - 1) / column_rows * column_rows);
}
/// Where byte `x` of row `y` lies in it.
[[nodiscard]] constexpr std::uint64_t tiled_offset(std::uint64_t row_bytes, std::uint32_t rows,
                                                   std::uint64_t x, std::uint64_t y) {
  const std::uint64_t gobs = gobs_of_column(rows);
  const std::uint64_t columns = (row_bytes + kGobWidthBytes - 1) / kGobWidthBytes;
  const std::uint64_t gob_row = y / kGobRows;
  const std::uint64_t gob = (gob_row / gobs * columns + x / kGobWidthBytes) * gobs + gob_row % gobs;
  return gob * kGobBytes + x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 +
         x % 16;
}

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
