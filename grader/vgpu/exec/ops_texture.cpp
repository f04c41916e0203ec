// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texture fetches, surface loads and stores, and questions about their size.
#include <algorithm>
#include <array>
#include <cstring>

#include "grader/vgpu/exec/access.hpp"
#include "grader/vgpu/exec/half_math.hpp"
#include "grader/vgpu/exec/sampler.hpp"
#include "grader/vgpu/exec/select.hpp"
#include "grader/vgpu/memory/number_set.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::u16;
using generic::u32;
using generic::u64;
using program::Edge;
using program::Geometry;
using program::Instruction;
using program::Opcode;
using program::Query;
using ptx::ScalarType;

const Step* no_such_object(Warp& w, const Step* s, int lane, u64 handle, const char* what) {
  return raise(w, s, FaultKind::kIllegalAddress, static_cast<u32>(lane), handle,
               std::string("the handle is not that of a live ") + what + " object");
}

u64 handle_of(const Warp& w, const Step* s, int lane) { return at<const u64>(w, s->a)[lane]; }

u32 coordinate(const Warp& w, const Step* s, unsigned index, int lane) {
  return at<const u32>(w, s->extra->s[1 + index])[lane];
}

/// Sectors of a request, over all texels of all lanes.
class SectorCount {
 public:
  void add(u64 address) {
    const u64 sector = address / memory::kSectorBytes;
    for (u32 i = 0; i < count_; ++i) {
      if (seen_[i] == sector) return;
    }
    if (count_ < seen_.size()) seen_[count_++] = sector;
  }
  [[nodiscard]] u32 count() const { return count_; }

 private:
  std::array<u64, 256> seen_;
  u32 count_ = 0;
};

FetchPoint point_of(const Warp& w, const Step* s, int lane) {
  const Instruction& in = *s->extra->in;
  const auto geometry = static_cast<Geometry>(in.mode);
  FetchPoint point;
  point.layered = geometry == Geometry::kA1d || geometry == Geometry::kA2d;
  point.dimensions = geometry == Geometry::k3d                                 ? 3
                     : geometry == Geometry::k2d || geometry == Geometry::kA2d ? 2
                                                                               : 1;
  point.integer = in.type2 == ScalarType::kS32;
  unsigned next = 0;
  if (point.layered) point.layer = coordinate(w, s, next++, lane);
  for (unsigned d = 0; d < point.dimensions && next < 3; ++d, ++next) {
    const u32 bits = coordinate(w, s, next, lane);
    point.index[d] = static_cast<std::int32_t>(bits);
    point.position[d] = std::bit_cast<float>(bits);
  }
  return point;
}

const Step* texture(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  StepStats& stats = w.stats[s->stats];
  SectorCount sectors;
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 handle = handle_of(w, s, lane);
    const memory::Texture* object = table == nullptr ? nullptr : table->texture(handle);
    if (object == nullptr) return no_such_object(w, s, lane, handle, "texture");
    std::array<u64, 8> touched;
    u32 count = 0;
    const Texel texel = fetch(*object, point_of(w, s, lane), touched, count);
    for (u32 i = 0; i < count; ++i)
      sectors.add(reinterpret_cast<u64>(object->image.texels) + touched[i]);
    for (unsigned v = 0; v < in.vector; ++v) {
      u32 bits = texel.bits[v];
      if (in.type == ScalarType::kF16)
        bits = generic::nearest_half<generic::HalfFormat>(double{texel.value[v]});
      at<u32>(w, s->extra->d[v])[lane] = bits;
    }
  }
  stats.requests += 1;
  stats.sectors += sectors.count();
  return s + 1;
}

/// Byte offset of a surface access; nothing: outside, and the instruction says zero or ignore.
enum class Where : std::uint8_t { kInside, kOutside, kFault };

Where surface_offset(const Warp& w, const Step* s, const memory::Image& image, int lane, u32 bytes,
                     u64& offset) {
  const Instruction& in = *s->extra->in;
  const auto geometry = static_cast<Geometry>(in.mode);
  const bool layered = geometry == Geometry::kA1d || geometry == Geometry::kA2d;
  const bool rows =
      geometry == Geometry::k2d || geometry == Geometry::kA2d || geometry == Geometry::k3d;
  unsigned next = 0;
  std::int64_t z = layered ? static_cast<std::int32_t>(coordinate(w, s, next++, lane)) : 0;
  std::int64_t x = static_cast<std::int32_t>(coordinate(w, s, next++, lane));
  std::int64_t y = rows ? static_cast<std::int32_t>(coordinate(w, s, next++, lane)) : 0;
  if (geometry == Geometry::k3d) z = static_cast<std::int32_t>(coordinate(w, s, next, lane));
  const std::int64_t width = std::int64_t{image.width} * texel_bytes(image);
  const std::int64_t height = image.height;
  const std::int64_t depth = layered ? image.layers : image.depth;
  const bool inside = x >= 0 && x + bytes <= width && y >= 0 && y < height && z >= 0 && z < depth;
  if (!inside && in.edge == Edge::kTrap) return Where::kFault;
  if (!inside && in.edge == Edge::kZero) return Where::kOutside;
  if (!inside) {
    x = std::clamp<std::int64_t>(x, 0, width - bytes);
    y = std::clamp<std::int64_t>(y, 0, height - 1);
    z = std::clamp<std::int64_t>(z, 0, depth - 1);
  }
  offset = static_cast<u64>(z) * image.slice_bytes + static_cast<u64>(y) * image.pitch_bytes +
           static_cast<u64>(x);
  return Where::kInside;
}

template <bool kLoad>
const Step* surface(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  StepStats& stats = w.stats[s->stats];
  SectorCount sectors;
  const u32 bytes = ptx::size_bytes(in.type);
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 handle = handle_of(w, s, lane);
    const memory::Surface* object = table == nullptr ? nullptr : table->surface(handle);
    if (object == nullptr) return no_such_object(w, s, lane, handle, "surface");
    u64 offset = 0;
    const Where where = surface_offset(w, s, object->image, lane, bytes * in.vector, offset);
    if (where == Where::kFault)
      return raise(w, s, FaultKind::kIllegalAddress, static_cast<u32>(lane), handle,
                   "surface access outside the image");
    std::byte* place = object->image.texels + offset;
    if (where == Where::kInside) sectors.add(reinterpret_cast<u64>(place));
    for (unsigned v = 0; v < in.vector; ++v, place += bytes) {
      u64 value = 0;
      if constexpr (kLoad) {
        if (where == Where::kInside) std::memcpy(&value, place, bytes);
        if (in.d_slots == 2)
          at<u64>(w, s->extra->d[v])[lane] = value;
        else
          at<u32>(w, s->extra->d[v])[lane] = static_cast<u32>(value);
      } else if (where == Where::kInside) {
        value = in.s_slots == 2 ? at<const u64>(w, s->extra->s[4 + v])[lane]
                                : at<const u32>(w, s->extra->s[4 + v])[lane];
        std::memcpy(place, &value, bytes);
      }
    }
  }
  stats.requests += 1;
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
    const auto what = static_cast<Query>(in.mode);
    at<u32>(w, s->d)[lane] = what == Query::kWidth    ? image->width
                             : what == Query::kHeight ? image->height
                                                      : image->depth;
  }
  return s + 1;
}

}  // namespace

Handler select_texture(const Instruction& in) {
  const auto geometry = static_cast<Geometry>(in.mode);
  const bool known = geometry <= Geometry::kA2d;
  switch (in.opcode) {
    case Opcode::kTex:
      return known ? &texture : nullptr;
    case Opcode::kSuld:
      return known ? &surface<true> : nullptr;
    case Opcode::kSust:
      // The formatted form converts to the surface's format; the b-form copies bits.
      return known && in.mnemonic.find(".p.") == std::string_view::npos ? &surface<false> : nullptr;
    case Opcode::kTxq:
    case Opcode::kSuq:
      return &query;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
