// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 07: what each stage computes, in plain loops on the CPU. The tests compare every element of
/// every small run with it. Names are those of kernel.cuh; all results are whole numbers that a
/// float holds exactly, so any right kernel gives the same.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::read_paths {

constexpr std::int64_t kLevels = 256, kCoefficients = 16;
constexpr std::int64_t kRadius = 5;
constexpr std::int64_t kSamples = 10;

/// A picture; outside it, the nearest pixel.
struct Picture {
  const std::vector<float>& pixels;
  std::int64_t width, height;

  [[nodiscard]] float at(std::int64_t x, std::int64_t y) const;
};

/// Stage 1, of one level: the polynomial of k coefficients at the curve's value.
[[nodiscard]] float developed(const std::vector<float>& table, float level, std::int64_t k);
/// All of a picture.
[[nodiscard]] std::vector<float> developed(const Picture& in, const std::vector<float>& table,
                                           std::int64_t k);

/// Stage 2: the sum of the 11 x 11 pixels around each one.
[[nodiscard]] std::vector<float> blurred(const Picture& in);

/// Stage 3: the longest run of bright pixels in each segment of k; by segments, then by rows.
[[nodiscard]] std::vector<float> bright_runs(const Picture& in, std::int64_t k);

/// Stage 4: the pixel that is sample number `sample` of (x, y), perhaps outside.
struct Place {
  std::int64_t x, y;
};
[[nodiscard]] Place sample_near(std::int64_t x, std::int64_t y, std::int64_t sample,
                                std::int64_t k);
[[nodiscard]] std::vector<float> sampled(const Picture& in, std::int64_t k);

}  // namespace membound::labs::read_paths
