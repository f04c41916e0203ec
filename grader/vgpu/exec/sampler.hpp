// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One texture fetch of one lane: addressing, filtering, formats.
/// Place in the chain: exec/ops_texture -> [sampler] -> memory/textures (objects made by runtime).
/// Source: CUDA Programming Guide, "Texture Fetching": linear filtering with weights in 1.8 fixed
/// point. Left out: mipmaps, cube maps, multisampling, anisotropy.
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
};

/// The byte offset of a texel from Image::texels.
[[nodiscard]] std::uint64_t texel_offset(const memory::Image& image, std::uint32_t x,
                                         std::uint32_t y, std::uint32_t z);
/// Bytes of one texel.
[[nodiscard]] std::uint32_t texel_bytes(const memory::Image& image);

/// Fetches; `touched` receives the offset of every texel read, `count` of them (at most 8).
[[nodiscard]] Texel fetch(const memory::Texture& texture, const FetchPoint& point,
                          std::array<std::uint64_t, 8>& touched, std::uint32_t& count);

}  // namespace membound::vgpu::exec
