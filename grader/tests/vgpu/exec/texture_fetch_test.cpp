// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a linear filter weighs the texels around a point in space, against an H200: the texture is 0
/// but for texel (3, 3, 3), which is 1, so that a fetch answers that texel's weight.
#include "grader/vgpu/exec/lanes/texture_fetch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace membound::vgpu::exec {
namespace {

struct Row {
  std::array<float, 3> position;
  int weight;  ///< in 256ths, as an H200 (driver 580.159.04) fetches it
};

// The last ten rows are ties: halves of a 256th.
constexpr Row kRows[] = {
    // clang-format off
    {{2.88588524f, 2.62481642f, 4.08974552f}, 5},
    {{3.24518919f, 2.96383619f, 4.2988286f}, 18},
    {{3.21337914f, 4.1255455f, 4.44564772f}, 4},
    {{4.49740553f, 4.4474144f, 3.63981962f}, 0},
    {{3.74447727f, 3.91494966f, 3.51032782f}, 112},
    {{4.25177479f, 2.68302011f, 4.40307522f}, 1},
    {{2.99597478f, 2.61641145f, 3.51732779f}, 15},
    {{2.76823831f, 2.7277422f, 3.89942169f}, 10},
    {{2.51881289f, 3.00730467f, 2.8757689f}, 1},
    {{3.68167734f, 2.94458914f, 3.96903467f}, 49},
    {{3.3116765f, 3.76708221f, 3.80881548f}, 106},
    {{2.94824672f, 4.19737148f, 3.47880077f}, 34},
    {{4.05007076f, 3.0218637f, 3.94232321f}, 33},
    {{3.44508982f, 3.95432138f, 3.24834251f}, 100},
    {{3.74938488f, 3.9769659f, 2.74328518f}, 24},
    {{3.75237179f, 3.81318617f, 4.45842648f}, 6},
    {{3.10785985f, 3.59188461f, 3.98954678f}, 72},
    {{3.23365712f, 2.60327053f, 2.62413549f}, 2},
    {{2.62306213f, 3.47575045f, 3.67214489f}, 26},
    {{2.56379724f, 3.77266741f, 3.34487247f}, 10},
    {{3.00059533f, 4.44721317f, 2.50584197f}, 0},
    {{4.04596615f, 4.4470582f, 2.62490034f}, 1},
    // clang-format on
};

TEST(Sampler, WeighsTexelsInSpaceAsAnH200Does) {
  constexpr std::uint32_t kSide = 8;
  std::vector<float> texels(kSide * kSide * kSide);
  texels[(3 * kSide + 3) * kSide + 3] = 1;
  memory::Texture texture;
  texture.filter = memory::FilterMode::kLinear;
  texture.image.texels = reinterpret_cast<std::byte*>(texels.data());
  texture.image.width = texture.image.height = texture.image.depth = kSide;
  texture.image.pitch_bytes = kSide * sizeof(float);
  texture.image.slice_bytes = kSide * kSide * sizeof(float);
  for (const Row& row : kRows) {
    FetchPoint point;
    point.position = row.position;
    point.dimensions = 3;
    Touched touched;
    EXPECT_EQ(fetch(texture, point, touched).value[0] * 256, static_cast<float>(row.weight))
        << "at " << row.position[0] << ", " << row.position[1] << ", " << row.position[2];
  }
}

/// Pixels of 4 bytes of a picture of 100 x 40, where an array has them.
std::uint64_t place_of_pixel(std::uint64_t x, std::uint64_t y) {
  return memory::tiled_offset(400, 40, 4 * x, y);
}

TEST(ArrayLayout, HasFourPixelsOfTwoRowsInASector) {
  for (std::uint64_t y = 0; y < 40; ++y)
    for (std::uint64_t x = 0; x < 100; ++x)
      EXPECT_EQ(place_of_pixel(x, y) / 32, place_of_pixel(x / 4 * 4, y / 2 * 2) / 32)
          << x << ", " << y;
}

TEST(ArrayLayout, HasEightPixelsOfFourRowsInALine) {
  for (std::uint64_t y = 0; y < 40; ++y)
    for (std::uint64_t x = 0; x < 100; ++x)
      EXPECT_EQ(place_of_pixel(x, y) / 128, place_of_pixel(x / 8 * 8, y / 4 * 4) / 128)
          << x << ", " << y;
}

TEST(ArrayLayout, GivesEveryByteAPlaceOfItsOwn) {
  for (const std::uint32_t rows : {1u, 7u, 8u, 9u, 127u, 128u, 300u}) {
    constexpr std::uint64_t kRowBytes = 200;
    std::vector<bool> taken(memory::tiled_bytes(kRowBytes, rows));
    for (std::uint64_t y = 0; y < rows; ++y)
      for (std::uint64_t x = 0; x < kRowBytes; ++x) {
        const std::uint64_t at = memory::tiled_offset(kRowBytes, rows, x, y);
        ASSERT_LT(at, taken.size()) << x << ", " << y << " of " << rows;
        EXPECT_FALSE(taken[at]) << x << ", " << y << " of " << rows;
        taken[at] = true;
      }
  }
}

}  // namespace
}  // namespace membound::vgpu::exec
