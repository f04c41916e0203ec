// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Surface loads, stores and reductions. The b-forms copy bits and count x in bytes; the p-forms
/// convert to the surface's format and count x in texels.
#include <algorithm>
#include <cstring>

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
using program::Edge;
using program::Geometry;
using program::Instruction;
using program::Opcode;

/// Where a surface access goes; kOutside: the instruction says zero or ignore.
enum class Where : std::uint8_t { kInside, kOutside, kFault };

bool is_formatted(const Instruction& in) {
  return in.mnemonic.find(".p.") != std::string_view::npos;
}

/// The byte offset of an access to `bytes` at the lane's coordinates.
Where surface_offset(const Warp& w, const Step* s, const memory::Image& image, int lane, u32 bytes,
                     u64& offset) {
  const Instruction& in = *s->extra->in;
  const Geometry geometry = in.as<program::SurfaceAccess>().geometry;
  const Edge edge = in.as<program::SurfaceAccess>().edge;
  const bool layered = geometry == Geometry::kA1d || geometry == Geometry::kA2d;
  const bool rows =
      geometry == Geometry::k2d || geometry == Geometry::kA2d || geometry == Geometry::k3d;
  unsigned next = 0;
  std::int64_t z = layered ? static_cast<std::int32_t>(coordinate(w, s, next++, lane)) : 0;
  std::int64_t x = static_cast<std::int32_t>(coordinate(w, s, next++, lane));
  if (is_formatted(in)) x *= texel_bytes(image);
  std::int64_t y = rows ? static_cast<std::int32_t>(coordinate(w, s, next++, lane)) : 0;
  if (geometry == Geometry::k3d) z = static_cast<std::int32_t>(coordinate(w, s, next, lane));
  const std::int64_t width = std::int64_t{image.width} * texel_bytes(image);
  const std::int64_t height = image.height;
  const std::int64_t depth = layered ? image.layers : image.depth;
  const bool inside = x >= 0 && x + bytes <= width && y >= 0 && y < height && z >= 0 && z < depth;
  // Wider than a row: there is nothing that an access could be clamped to.
  if (!inside && (edge == Edge::kTrap || bytes > width)) return Where::kFault;
  if (!inside && edge == Edge::kZero) return Where::kOutside;
  if (!inside) {
    x = std::clamp<std::int64_t>(x, 0, width - bytes);
    y = std::clamp<std::int64_t>(y, 0, height - 1);
    z = std::clamp<std::int64_t>(z, 0, depth - 1);
  }
  offset = static_cast<u64>(z) * image.slice_bytes + static_cast<u64>(y) * image.pitch_bytes +
           static_cast<u64>(x);
  return Where::kInside;
}

/// A float as a half: rounded towards zero; a NaN keeps the top of its payload (seen on an H200).
u32 half_channel(u32 bits) {
  const float value = std::bit_cast<float>(bits);
  if (value == value)
    return generic::narrow_half<generic::HalfFormat>(double{value}, program::Rounding::kRz, false);
  const u32 payload = (bits >> 13) & 0x3FF;
  return (bits >> 31) << 15 | 0x7C00 | (payload == 0 ? 1 : payload);
}

/// A value of the instruction as a channel of the surface; integers saturate.
u32 to_channel(const memory::Image& image, u32 bits) {
  if (image.channel_bits == 32) return bits;
  const u32 width = image.channel_bits;
  switch (image.kind) {
    case memory::ChannelKind::kFloat:
      return half_channel(bits);
    case memory::ChannelKind::kUnsigned:
      return std::min(bits, (1u << width) - 1);
    case memory::ChannelKind::kSigned: {
      const std::int32_t high = (1 << (width - 1)) - 1;
      return static_cast<u32>(std::clamp(static_cast<std::int32_t>(bits), -high - 1, high));
    }
  }
  return bits;
}

u64 source_of(const Warp& w, const Step* s, unsigned index, int lane) {
  return s->extra->in->s_slots == 2 ? at<const u64>(w, s->extra->s[4 + index])[lane]
                                    : at<const u32>(w, s->extra->s[4 + index])[lane];
}

void load(Warp& w, const Step* s, int lane, const std::byte* place) {
  const Instruction& in = *s->extra->in;
  const u32 bytes = ptx::size_bytes(in.type);
  for (unsigned v = 0; v < in.vector; ++v) {
    u64 value = 0;
    if (place != nullptr) std::memcpy(&value, place + v * bytes, bytes);
    if (in.d_slots == 2)
      at<u64>(w, s->extra->d[v])[lane] = value;
    else
      at<u32>(w, s->extra->d[v])[lane] = static_cast<u32>(value);
  }
}

void store(Warp& w, const Step* s, int lane, std::byte* place) {
  const Instruction& in = *s->extra->in;
  const u32 bytes = ptx::size_bytes(in.type);
  for (unsigned v = 0; v < in.vector; ++v) {
    const u64 value = source_of(w, s, v, lane);
    std::memcpy(place + v * bytes, &value, bytes);
  }
}

/// Channels the surface lacks are dropped; those the instruction lacks become 0.
void store_formatted(Warp& w, const Step* s, const memory::Image& image, int lane,
                     std::byte* place) {
  const Instruction& in = *s->extra->in;
  const u32 bytes = image.channel_bits / 8;
  for (unsigned v = 0; v < image.channels; ++v) {
    const u32 value =
        v < in.vector ? to_channel(image, static_cast<u32>(source_of(w, s, v, lane))) : 0;
    std::memcpy(place + v * bytes, &value, bytes);
  }
}

const Step* surface(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  StepStats& stats = w.stats[s->stats];
  const auto& access = in.as<program::SurfaceAccess>();
  const u32 together = access.geometry == Geometry::k3d ? 4 : 8;
  SectorCount sectors(together);
  const bool formatted = is_formatted(in);
  for (u32 rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const u64 handle = handle_of(w, s, lane);
    const memory::Surface* object = table == nullptr ? nullptr : table->surface(handle);
    if (object == nullptr) return no_such_object(w, s, lane, handle, "surface");
    const memory::Image& image = object->image;
    const u32 bytes = formatted && in.opcode != Opcode::kSured
                          ? texel_bytes(image)
                          : ptx::size_bytes(in.type) * in.vector;
    u64 offset = 0;
    const Where where = surface_offset(w, s, image, lane, bytes, offset);
    if (where == Where::kFault)
      return raise(w, s, FaultKind::kIllegalAddress, static_cast<u32>(lane), handle,
                   "surface access outside the image");
    std::byte* const place = where == Where::kInside ? image.texels + offset : nullptr;
    if (in.opcode == Opcode::kSured && reinterpret_cast<u64>(place) % bytes != 0)
      return raise(w, s, FaultKind::kMisalignedAddress, static_cast<u32>(lane), handle,
                   "surface reduction at an x that is no multiple of its " + std::to_string(bytes) +
                       " bytes");
    if (place != nullptr) {
      for (u32 piece = 0; piece < bytes; piece += 16)
        sectors.add(image, false, lane, reinterpret_cast<u64>(place) + piece);
    }
    if (in.opcode == Opcode::kSuld) {
      load(w, s, lane, place);
    } else if (place != nullptr && in.opcode == Opcode::kSured) {
      apply_atomic(place, w.launch->parallel, access.operation, in.type, source_of(w, s, 0, lane));
    } else if (place != nullptr && formatted) {
      store_formatted(w, s, image, lane, place);
    } else if (place != nullptr) {
      store(w, s, lane, place);
    }
  }
  stats.requests += groups_of_lanes(w.mask, together);
  stats.sectors += sectors.count();
  return s + 1;
}

bool is_integer_atomic(program::Atomic operation) {
  switch (operation) {
    case program::Atomic::kAdd:
    case program::Atomic::kMin:
    case program::Atomic::kMax:
    case program::Atomic::kAnd:
    case program::Atomic::kOr:
      return true;
    default:
      return false;
  }
}

}  // namespace

Handler select_surface(const Instruction& in) {
  const auto& access = in.as<program::SurfaceAccess>();
  // A channel goes through 8 bytes.
  if (access.geometry > Geometry::kA2d || ptx::size_bytes(in.type) > 8) return nullptr;
  switch (in.opcode) {
    case Opcode::kSuld:
      return is_formatted(in) ? nullptr : &surface;  // PTX has no formatted load any more
    case Opcode::kSust:
      return &surface;
    case Opcode::kSured:
      return is_integer_atomic(access.operation) && ptx::size_bytes(in.type) >= 4 ? &surface
                                                                                  : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
