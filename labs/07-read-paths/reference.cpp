// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/07-read-paths/reference.hpp"

#include <algorithm>
#include <cstddef>

namespace membound::labs::read_paths {
namespace {

constexpr float kBright = 128;

template <typename Pixel>
std::vector<float> each_pixel(const Picture& in, const Pixel& pixel) {
  std::vector<float> out;
  out.reserve(in.pixels.size());
  for (std::int64_t y = 0; y < in.height; ++y)
    for (std::int64_t x = 0; x < in.width; ++x) out.push_back(pixel(x, y));
  return out;
}

}  // namespace

float Picture::at(std::int64_t x, std::int64_t y) const {
  x = std::clamp<std::int64_t>(x, 0, width - 1);
  y = std::clamp<std::int64_t>(y, 0, height - 1);
  return pixels[static_cast<std::size_t>(y * width + x)];
}

float developed(const std::vector<float>& table, float level, std::int64_t k) {
  const float v = table[static_cast<std::size_t>(level)];
  float sum = 0;
  for (std::int64_t j = k - 1; j >= 0; --j)
    sum = sum * v + table[static_cast<std::size_t>(kLevels + j)];
  return sum;
}

std::vector<float> developed(const Picture& in, const std::vector<float>& table, std::int64_t k) {
  return each_pixel(
      in, [&](std::int64_t x, std::int64_t y) { return developed(table, in.at(x, y), k); });
}

std::vector<float> blurred(const Picture& in) {
  return each_pixel(in, [&](std::int64_t x, std::int64_t y) {
    float sum = 0;
    for (std::int64_t dy = -kRadius; dy <= kRadius; ++dy)
      for (std::int64_t dx = -kRadius; dx <= kRadius; ++dx) sum += in.at(x + dx, y + dy);
    return sum;
  });
}

std::vector<float> bright_runs(const Picture& in, std::int64_t k) {
  std::vector<float> out;
  for (std::int64_t begin = 0; begin < in.width; begin += k) {
    for (std::int64_t y = 0; y < in.height; ++y) {
      std::int64_t run = 0, longest = 0;
      for (std::int64_t x = begin; x < std::min(begin + k, in.width); ++x) {
        run = in.at(x, y) >= kBright ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      out.push_back(static_cast<float>(longest));
    }
  }
  return out;
}

Place sample_near(std::int64_t x, std::int64_t y, std::int64_t sample, std::int64_t k) {
  std::uint32_t mixed = static_cast<std::uint32_t>(x) * 73856093U ^
                        static_cast<std::uint32_t>(y) * 19349663U ^
                        static_cast<std::uint32_t>(sample) * 83492791U;
  mixed = (mixed ^ mixed >> 13) * 0x5bd1e995U;
  mixed ^= mixed >> 15;
  const std::uint32_t width = 2U * static_cast<std::uint32_t>(k) + 1U;
  return {x - k + ((mixed & 0xffffU) * width >> 16), y - k + ((mixed >> 16) * width >> 16)};
}

std::vector<float> sampled(const Picture& in, std::int64_t k) {
  return each_pixel(in, [&](std::int64_t x, std::int64_t y) {
    float sum = 0;
    for (std::int64_t s = 0; s < kSamples; ++s) {
      const Place place = sample_near(x, y, s, k);
      sum += in.at(place.x, place.y);
    }
    return sum;
  });
}

}  // namespace membound::labs::read_paths
