// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texture fetches and gathers, and questions about the size of textures and surfaces.
#include <algorithm>
#include <cmath>

#include "grader/vgpu/exec/lanes/half_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/lanes/texture_access.hpp"
#include "grader/vgpu/exec/lanes/texture_fetch.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u16;
using generic::u32;
using generic::u64;
using program::Geometry;
using program::Instruction;
using program::LevelMode;
using program::Opcode;
using program::Query;
using ptx::ScalarType;

float real(const Warp& w, const Step* s, unsigned source, int lane) {
  return std::bit_cast<float>(at<const u32>(w, s->extra->s[source])[lane]);
}

/// The level of detail whose texels are about as far apart as the fetches of neighbouring pixels.
float level_of(const Warp& w, const Step* s, const memory::Texture& texture, int lane) {
  const Instruction& in = *s->extra->in;
  const LevelMode mode = in.as<program::Fetch>().level;
  if (mode == LevelMode::kGiven) return real(w, s, 4, lane);
  if (mode == LevelMode::kNone) return 0;
  const float width = texture.normalized_coordinates ? static_cast<float>(texture.image.width) : 1;
  const float height =
      texture.normalized_coordinates ? static_cast<float>(texture.image.height) : 1;
  float longest = 0;
  for (unsigned direction = 0; direction < 2; ++direction) {
    const float x = real(w, s, 4 + 2 * direction, lane) * width;
    const float y = in.s[5] ? real(w, s, 5 + 2 * direction, lane) * height : 0;
    longest = std::max(longest, std::hypot(x, y));
  }
  return longest > 0 ? std::log2(longest) : 0;
}

/// A cube's face as one of six layers.
void aim_at_cube(const Warp& w, const Step* s, const memory::Texture& texture, int lane,
                 unsigned next, FetchPoint& point) {
  const CubePoint cube = cube_point(real(w, s, 1 + next, lane), real(w, s, 2 + next, lane),
                                    real(w, s, 3 + next, lane));
  point.layer = point.layer * 6 + cube.face;
  point.layered = true;
  point.dimensions = 2;
  const bool normalized = texture.normalized_coordinates;
  point.position[0] =
      normalized ? cube.across : cube.across * static_cast<float>(texture.image.width);
  point.position[1] = normalized ? cube.down : cube.down * static_cast<float>(texture.image.height);
}

FetchPoint point_of(const Warp& w, const Step* s, const memory::Texture& texture, int lane) {
  const Instruction& in = *s->extra->in;
  const Geometry geometry = in.as<program::Fetch>().geometry;
  FetchPoint point;
  point.layered =
      geometry == Geometry::kA1d || geometry == Geometry::kA2d || geometry == Geometry::kACube;
  point.level = level_of(w, s, texture, lane);
  unsigned next = 0;
  if (point.layered) point.layer = coordinate(w, s, next++, lane);
  if (geometry == Geometry::kCube || geometry == Geometry::kACube) {
    aim_at_cube(w, s, texture, lane, next, point);
    return point;
  }
  point.dimensions = geometry == Geometry::k3d                                 ? 3
                     : geometry == Geometry::k2d || geometry == Geometry::kA2d ? 2
                                                                               : 1;
  point.integer = in.type2 == ScalarType::kS32;
  for (unsigned d = 0; d < point.dimensions && next < 3; ++d, ++next) {
    const u32 bits = coordinate(w, s, next, lane);
    point.index[d] = static_cast<std::int32_t>(bits);
    point.position[d] = std::bit_cast<float>(bits);
  }
  return point;
}

template <bool kGather>
const Step* texture(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  StepStats& stats = w.stats[s->stats];
  // Lanes may use different objects; the first says how they go together.
  const memory::Texture* first =
      table == nullptr ? nullptr : table->texture(handle_of(w, s, __builtin_ctz(w.mask)));
  const u32 together = first != nullptr && first->linear_memory ? 8 : 4;
  SectorCount sectors(together);
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 handle = handle_of(w, s, lane);
    const memory::Texture* object = table == nullptr ? nullptr : table->texture(handle);
    if (object == nullptr) return no_such_object(w, s, lane, handle, "texture");
    Touched touched;
    const FetchPoint point = point_of(w, s, *object, lane);
    const Texel texel = kGather ? gather(*object, point, in.as<program::Fetch>().channel, touched)
                                : fetch(*object, point, touched);
    for (u32 i = 0; i < touched.count; ++i)
      sectors.add(object->image, object->linear_memory, lane, touched.address[i]);
    for (unsigned v = 0; v < in.vector; ++v) {
      u32 bits = texel.bits[v];
      if (in.type == ScalarType::kF16)
        bits = generic::nearest_half<generic::HalfFormat>(double{texel.value[v]});
      at<u32>(w, s->extra->d[v])[lane] = bits;
    }
  }
  stats.requests += groups_of_lanes(w.mask, together);
  stats.sectors += sectors.count();
  return s + 1;
}

const Step* query(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 handle = handle_of(w, s, lane);
    const memory::Image* image = nullptr;
    if (table != nullptr && in.opcode == Opcode::kTxq) {
      if (const auto* object = table->texture(handle)) image = &object->image;
    } else if (table != nullptr) {
      if (const auto* object = table->surface(handle)) image = &object->image;
    }
    if (image == nullptr) return no_such_object(w, s, lane, handle, "texture or surface");
    const auto what = in.as<program::TextureQuery>().what;
    at<u32>(w, s->d)[lane] = what == Query::kWidth    ? image->width
                             : what == Query::kHeight ? image->height
                                                      : image->depth;
  }
  return s + 1;
}

}  // namespace

Handler select_texture(const Instruction& in) {
  const Geometry geometry = in.as<program::Fetch>().geometry;
  switch (in.opcode) {
    case Opcode::kTex:
      return geometry <= Geometry::kACube ? &texture<false> : nullptr;
    case Opcode::kTld4:
      return geometry == Geometry::k2d || geometry == Geometry::kA2d ? &texture<true> : nullptr;
    case Opcode::kTxq:
    case Opcode::kSuq:
      return &query;
    default:
      return select_surface(in);
  }
}

}  // namespace membound::vgpu::exec
