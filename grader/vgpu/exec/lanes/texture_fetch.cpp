// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/texture_fetch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "grader/vgpu/exec/lanes/float_math.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::AddressMode;
using memory::ChannelKind;
using memory::FilterMode;
using memory::Image;
using memory::Texture;

float to_unit(std::uint32_t bits, std::uint32_t width, bool is_signed) {
  const float largest = static_cast<float>((1u << (width - (is_signed ? 1 : 0))) - 1);
  if (!is_signed) return static_cast<float>(bits) / largest;
  const std::uint32_t up = 32 - width;
  const auto value = static_cast<std::int32_t>(bits << up) >> up;
  return std::max(-1.0f, static_cast<float>(value) / largest);
}

void read_channel(const Texture& texture, const std::byte* place, std::uint32_t channel,
                  Texel& out) {
  const Image& image = texture.image;  // every level has its format
  std::uint32_t bits = 0;
  std::memcpy(&bits, place, image.channel_bits / 8);
  if (image.kind == ChannelKind::kFloat) {
    const float value =
        image.channel_bits == 16
            ? generic::widen_half<generic::HalfFormat>(static_cast<std::uint16_t>(bits))
            : std::bit_cast<float>(bits);
    out.value[channel] = value;
    out.bits[channel] = std::bit_cast<std::uint32_t>(value);
    return;
  }
  const bool is_signed = image.kind == ChannelKind::kSigned;
  if (texture.read_normalized_float && image.channel_bits < 32) {
    out.value[channel] = to_unit(bits, image.channel_bits, is_signed);
    out.bits[channel] = std::bit_cast<std::uint32_t>(out.value[channel]);
    return;
  }
  const std::uint32_t up = 32 - image.channel_bits;
  if (is_signed) bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits << up) >> up);
  out.bits[channel] = bits;
  out.value[channel] = std::bit_cast<float>(bits);
}

/// An index into an extent by the address mode; nothing: the border.
std::optional<std::uint32_t> address(std::int64_t index, std::uint32_t extent, AddressMode mode) {
  const auto size = static_cast<std::int64_t>(extent);
  if (index >= 0 && index < size) return static_cast<std::uint32_t>(index);
  switch (mode) {
    case AddressMode::kWrap:
      return static_cast<std::uint32_t>((index % size + size) % size);
    case AddressMode::kClamp:
      return static_cast<std::uint32_t>(index < 0 ? 0 : size - 1);
    case AddressMode::kMirror: {
      const std::int64_t period = (index % (2 * size) + 2 * size) % (2 * size);
      return static_cast<std::uint32_t>(period < size ? period : 2 * size - 1 - period);
    }
    case AddressMode::kBorder:
      break;
  }
  return std::nullopt;
}

/// One axis of a fetch: one or two texels and the weight of the second.
struct Axis {
  std::array<std::optional<std::uint32_t>, 2> index{0u, 0u};
  std::uint32_t weight = 0;  ///< in 256ths
  std::uint32_t count = 1;
};

Axis axis_of(const Texture& texture, float coordinate, std::uint32_t extent, AddressMode mode,
             FilterMode filter) {
  // Wrap and mirror exist for normalised coordinates only.
  if (!texture.normalized_coordinates &&
      (mode == AddressMode::kWrap || mode == AddressMode::kMirror))
    mode = AddressMode::kClamp;
  const float size = static_cast<float>(extent);
  float x = texture.normalized_coordinates ? coordinate * size : coordinate;
  if (!std::isfinite(x)) x = 0;
  x = std::clamp(x, -1e9f, 1e9f);
  Axis axis;
  if (filter == FilterMode::kPoint) {
    axis.index[0] = address(static_cast<std::int64_t>(std::floor(x)), extent, mode);
    return axis;
  }
  const float shifted = x - 0.5f;
  const float whole = std::floor(shifted);
  // 8 bits of fraction, rounded to nearest.
  axis.weight = static_cast<std::uint32_t>(std::floor((shifted - whole) * 256.0f + 0.5f));
  const bool next = axis.weight == 256;
  if (next) axis.weight = 0;
  const auto first = static_cast<std::int64_t>(whole) + (next ? 1 : 0);
  axis.index = {address(first, extent, mode), address(first + 1, extent, mode)};
  axis.count = 2;
  return axis;
}

/// The weights of the up to eight texels in 256ths, x fastest; whole 256ths that add up to one,
/// exactly as an H200 weighs them. In a plane, x and y are blended. In space the unit divides by
/// planes (z), each plane by columns (x), each column by rows (y); halves go to the far column, and
/// to the far row in the far column only.
std::array<std::int32_t, 8> weights_of(const Axis& x, const Axis& y, const Axis& z) {
  const auto share = [](std::int32_t whole, const Axis& axis, std::int32_t half) {
    return (whole * static_cast<std::int32_t>(axis.weight) + half) / 256;
  };
  const auto a = static_cast<std::int32_t>(x.weight), b = static_cast<std::int32_t>(y.weight);
  if (z.count == 1) {
    const std::int32_t both = share(a, y, 128);
    return {256 - a - b + both, a - both, b - both, both};
  }
  std::array<std::int32_t, 8> weights{};
  const auto far = static_cast<std::int32_t>(z.weight);
  for (std::size_t k = 0; k < 2; ++k) {
    const std::int32_t plane = k == 0 ? 256 - far : far;
    const std::int32_t column = share(plane, x, 128);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int32_t whole = i == 0 ? plane - column : column;
      weights[k * 4 + 2 + i] = share(whole, y, i == 0 ? 127 : 128);
      weights[k * 4 + i] = whole - weights[k * 4 + 2 + i];
    }
  }
  return weights;
}

/// One texel of a level, or the border.
Texel read_texel(const Texture& texture, const Image& image, std::optional<std::uint32_t> x,
                 std::optional<std::uint32_t> y, std::optional<std::uint32_t> z, Touched& touched) {
  Texel texel;
  if (!x || !y || !z) {
    for (std::uint32_t c = 0; c < 4; ++c) {
      texel.value[c] = texture.border[c];
      texel.bits[c] = image.kind == ChannelKind::kFloat || texture.read_normalized_float
                          ? std::bit_cast<std::uint32_t>(texture.border[c])
                          : 0;
    }
    return texel;
  }
  const std::byte* const place = image.texels + texel_offset(image, *x, *y, *z);
  touched.address[touched.count++] = reinterpret_cast<std::uint64_t>(place);
  for (std::uint32_t c = 0; c < image.channels; ++c)
    read_channel(texture, place + c * image.channel_bits / 8, c, texel);
  return texel;
}

/// A fetch by integers: 0 outside.
Texel fetch_exactly(const Texture& texture, const Image& image, const FetchPoint& point,
                    Touched& touched) {
  const auto inside = [](std::int32_t i, std::uint32_t extent) {
    return i >= 0 && static_cast<std::uint32_t>(i) < extent
               ? std::optional(static_cast<std::uint32_t>(i))
               : std::nullopt;
  };
  const auto y = point.dimensions > 1 ? inside(point.index[1], image.height) : std::optional(0u);
  const auto z = point.dimensions > 2 ? inside(point.index[2], image.depth) : std::optional(0u);
  const auto x = inside(point.index[0], image.width);
  if (!x || !y || !z) return Texel{};
  return read_texel(texture, image, x, y, z, touched);
}

struct Axes {
  Axis x, y, z;
};

Axes axes_of(const Texture& texture, const Image& image, const FetchPoint& point,
             FilterMode filter) {
  Axes axes;
  axes.x = axis_of(texture, point.position[0], image.width, texture.address[0], filter);
  if (point.dimensions > 1)
    axes.y = axis_of(texture, point.position[1], image.height, texture.address[1], filter);
  if (point.dimensions > 2)
    axes.z = axis_of(texture, point.position[2], image.depth, texture.address[2], filter);
  if (point.layered) axes.z.index[0] = std::min(point.layer, std::max(1u, image.layers) - 1);
  return axes;
}

/// What one level of detail answers.
Texel fetch_level(const Texture& texture, const Image& image, const FetchPoint& point,
                  Touched& touched) {
  if (point.integer) return fetch_exactly(texture, image, point, touched);
  const auto [x, y, z] = axes_of(texture, image, point, texture.filter);
  if (x.count == 1 && y.count == 1 && z.count == 1)
    return read_texel(texture, image, x.index[0], y.index[0], z.index[0], touched);
  const std::array<std::int32_t, 8> weights = weights_of(x, y, z);
  Texel blended;
  for (std::uint32_t k = 0; k < z.count; ++k) {
    for (std::uint32_t j = 0; j < y.count; ++j) {
      for (std::uint32_t i = 0; i < x.count; ++i) {
        const float weight = static_cast<float>(weights[k * 4 + j * 2 + i]) / 256.0f;
        const std::uint32_t before = touched.count;
        const Texel texel = read_texel(texture, image, x.index[i], y.index[j], z.index[k], touched);
        // A neighbour of weight 0 is not fetched (but the second plane always is).
        if ((i == 1 && x.weight == 0) || (j == 1 && y.weight == 0)) touched.count = before;
        for (std::uint32_t c = 0; c < 4; ++c) blended.value[c] += weight * texel.value[c];
      }
    }
  }
  for (std::uint32_t c = 0; c < 4; ++c)
    blended.bits[c] = std::bit_cast<std::uint32_t>(blended.value[c]);
  return blended;
}

const Image& level_of(const Texture& texture, std::size_t level) {
  return level == 0 ? texture.image : texture.smaller[level - 1];
}

}  // namespace

std::uint32_t texel_bytes(const Image& image) { return image.channels * image.channel_bits / 8; }

std::uint64_t texel_offset(const Image& image, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return z * image.slice_bytes + y * image.pitch_bytes + std::uint64_t{x} * texel_bytes(image);
}

std::uint64_t device_place(const memory::Image& image, std::uint64_t place) {
  const std::uint64_t offset = place - reinterpret_cast<std::uint64_t>(image.texels);
  if (!image.is_tiled) return image.device_address + offset;
  const std::uint64_t slice = offset / image.slice_bytes, inside = offset % image.slice_bytes;
  const std::uint64_t row_bytes = std::uint64_t{image.width} * texel_bytes(image);
  return image.device_address + slice * memory::tiled_bytes(row_bytes, image.height) +
         memory::tiled_offset(row_bytes, image.height, inside % image.pitch_bytes,
                              inside / image.pitch_bytes);
}

CubePoint cube_point(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float s, t, m;
  CubePoint point;
  if (ax >= ay && ax >= az) {
    point.face = x >= 0 ? 0 : 1;
    m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    point.face = y >= 0 ? 2 : 3;
    m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    point.face = z >= 0 ? 4 : 5;
    m = az, s = z >= 0 ? x : -x, t = -y;
  }
  point.across = (s / m + 1) / 2;
  point.down = (t / m + 1) / 2;
  return point;
}

Texel fetch(const Texture& texture, const FetchPoint& point, Touched& touched) {
  if (texture.smaller.empty()) return fetch_level(texture, texture.image, point, touched);
  const float last = static_cast<float>(texture.smaller.size());
  const float asked = std::isnan(point.level) ? 0 : point.level + texture.level_bias;
  // The limits are the program's, and may be NaN: levels are numbered from 0.
  const float most = std::fmin(std::fmax(texture.highest_level, 0.0f), last);
  const float least = std::fmin(std::fmax(texture.lowest_level, 0.0f), most);
  const float level = std::fmin(std::fmax(asked, least), most);
  if (texture.level_filter == FilterMode::kPoint || point.integer) {
    const auto nearest = static_cast<std::size_t>(std::floor(level + 0.5f));
    return fetch_level(texture, level_of(texture, nearest), point, touched);
  }
  const auto lower = static_cast<std::size_t>(level);
  // 8 bits of fraction, as between texels.
  const float weight = std::floor((level - static_cast<float>(lower)) * 256.0f + 0.5f) / 256.0f;
  Texel texel = fetch_level(texture, level_of(texture, lower), point, touched);
  if (weight == 0) return texel;
  const Texel upper = fetch_level(texture, level_of(texture, lower + 1), point, touched);
  for (std::uint32_t c = 0; c < 4; ++c) {
    texel.value[c] += weight * (upper.value[c] - texel.value[c]);
    texel.bits[c] = std::bit_cast<std::uint32_t>(texel.value[c]);
  }
  return texel;
}

Texel gather(const Texture& texture, const FetchPoint& point, std::uint32_t channel,
             Touched& touched) {
  const auto [x, y, z] = axes_of(texture, texture.image, point, FilterMode::kLinear);
  constexpr std::array<std::array<std::size_t, 2>, 4> kOrder{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
  Texel gathered;
  for (std::size_t i = 0; i < kOrder.size(); ++i) {
    const Texel texel = read_texel(texture, texture.image, x.index[kOrder[i][0]],
                                   y.index[kOrder[i][1]], z.index[0], touched);
    gathered.value[i] = texel.value[channel];
    gathered.bits[i] = texel.bits[channel];
  }
  return gathered;
}

}  // namespace membound::vgpu::exec
