// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One texture fetch of one lane: addressing, filtering, formats. Source: CUDA Programming Guide,
/// "Texture Fetching": linear filtering with weights in 1.8 fixed point; "Cubemap Textures". Left
/// out: multisampling, anisotropy, blending across a cube's edges.
#pragma once

#include <array>
#include <cstdint>

#include "grader/vgpu/memory/textures.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec {

/// A texel as floats, or as the bits of integers.
struct Texel {
  std::array<float, 4> value{};
  std::array<std::uint32_t, 4> bits{};
};

/// Where a fetch goes; integer coordinates for linear memory, else floats.
struct FetchPoint {
  std::array<float, 3> position{};
  std::array<std::int32_t, 3> index{};
  bool integer = false;
  std::uint32_t dimensions = 1;  ///< 1, 2 or 3
  std::uint32_t layer = 0;
  bool layered = false;
  float level = 0;  ///< of detail
};

/// Where a direction meets the cube around it.
struct CubePoint {
  std::uint32_t face = 0;      ///< 0 to 5: +x, -x, +y, -y, +z, -z
  float across = 0, down = 0;  ///< 0 to 1 on that face
};
[[nodiscard]] CubePoint cube_point(float x, float y, float z);

/// The byte offset of a texel from Image::texels.
[[nodiscard]] std::uint64_t texel_offset(const memory::Image& image, std::uint32_t x,
                                         std::uint32_t y, std::uint32_t z);
/// Bytes of one texel.
[[nodiscard]] std::uint32_t texel_bytes(const memory::Image& image);

/// Addresses of the texels that one fetch read: at most 8 of each of two levels of detail.
struct Touched {
  std::array<std::uint64_t, 16> address{};
  std::uint32_t count = 0;
};

/// The device address that caches know for a texel at host address `place` of the image.
[[nodiscard]] std::uint64_t device_place(const memory::Image& image, std::uint64_t place);

/// Fetches with the texture's filter, at the point's level of detail.
[[nodiscard]] Texel fetch(const memory::Texture& texture, const FetchPoint& point,
                          Touched& touched);

/// Component `channel` of the four texels that a linear filter would blend, counter-clockwise from
/// the lower left one: (i, j+1), (i+1, j+1), (i+1, j), (i, j).
[[nodiscard]] Texel gather(const memory::Texture& texture, const FetchPoint& point,
                           std::uint32_t channel, Touched& touched);

}  // namespace membound::vgpu::exec
