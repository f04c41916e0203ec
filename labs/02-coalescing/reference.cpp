// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/02-coalescing/reference.hpp"

#include <cstddef>

namespace membound::labs::coalescing {

std::vector<float> inverted(const std::vector<float>& in, const Picture& picture) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(picture.rows * picture.cols));
  for (std::int64_t row = 0; row < picture.rows; ++row)
    for (std::int64_t col = 0; col < picture.cols; ++col)
      out.push_back(1.0F - in[row * picture.pitch + col]);
  return out;
}

// [edges]
std::vector<float> edges(const std::vector<float>& in, const Picture& picture) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(picture.rows * picture.cols));
  for (std::int64_t row = 0; row < picture.rows; ++row) {
    float left = 0;
    for (std::int64_t col = 0; col < picture.cols; ++col) {
      const float here = in[row * picture.pitch + col];
      out.push_back(here - left);
      left = here;
    }
  }
  return out;
}
// [/edges]

std::vector<float> planes(const std::vector<float>& in, const Picture& picture) {
  const std::int64_t count = picture.rows * picture.cols;
  std::vector<float> out(in.size());
  for (std::int64_t pixel = 0; pixel < count; ++pixel)
    for (std::int64_t color = 0; color < 3; ++color)
      out[color * count + pixel] = in[3 * pixel + color];
  return out;
}

std::vector<float> premultiplied(const std::vector<float>& in, const Picture& picture) {
  const std::int64_t count = picture.rows * picture.cols;
  std::vector<float> out(in);
  for (std::int64_t pixel = 0; pixel < count; ++pixel)
    for (std::int64_t color = 0; color < 3; ++color) out[4 * pixel + color] *= in[4 * pixel + 3];
  return out;
}

}  // namespace membound::labs::coalescing
