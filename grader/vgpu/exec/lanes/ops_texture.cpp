// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Texture fetches and gathers; surface loads, stores and reductions, whose b-forms copy bits and
/// count x in bytes while the p-forms convert to the surface's format and count x in texels; and
/// questions about the size of both.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "grader/base/older_systems.hpp"
#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/lanes/texture_fetch.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/memory/texture_requests.hpp"

namespace membound::vgpu::exec {

[[nodiscard]] Handler select_surface(const program::Instruction& in);

namespace {

/// The lane's handle is not that of a live `what` object.
const Step* no_such_object(Warp& w, const Step* s, int lane, std::uint64_t handle,
                           const char* what) {
  return raise(w, s, FaultKind::kIllegalAddress, static_cast<std::uint32_t>(lane), handle,
               std::string("the handle is not that of a live ") + what + " object");
}

std::uint64_t handle_of(const Warp& w, const Step* s, int lane) {
  return generic::at<const std::uint64_t>(w, s->a)[lane];
}

/// Bits of source 1 + `index`.
std::uint32_t coordinate(const Warp& w, const Step* s, unsigned index, int lane) {
  return generic::at<const std::uint32_t>(w, s->extra->s[1 + index])[lane];
}

/// Neighbouring lanes go to the texture unit together, as far as one of them takes part: the
/// requests of an instruction. Four lanes for an array, eight for plain memory and flat surfaces.
std::uint32_t groups_of_lanes(std::uint32_t mask, std::uint32_t lanes) {
  std::uint32_t count = 0;
  for (std::uint32_t first = 0; first < 32; first += lanes)
    count += (mask & (((1u << lanes) - 1) << first)) != 0;
  return count;
}

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
    longest = std::max(longest, base::hypotenuse(x, y));
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

/// The texels that a warp's lanes touched, for the observer: their addresses in the device's
/// layout.
class TouchedTexels {
 public:
  void add(const memory::Image& image, int lane, const Touched& touched) {
    bytes_ = texel_bytes(image);
    for (u32 i = 0; i < touched.count; ++i) {
      addresses_[i][static_cast<std::size_t>(lane)] = device_place(image, touched.address[i]);
      masks_[i] |= 1u << lane;
    }
  }
  /// Tells of them; the requests of neighbouring lanes have asked for so many sectors together.
  void tell(Warp& w, const Step* s, u32 sectors) const {
    u32 different = 0;
    for (std::size_t i = 0; i < masks_.size() && masks_[i] != 0; ++i) {
      w.observer->fetch({&w, s, ptx::StateSpace::kGlobal, AccessKind::kLoad, masks_[i], bytes_,
                         addresses_[i].data()});
      different += memory::coalesce(addresses_[i].data(), masks_[i], bytes_).sectors;
    }
    // What two requests of a warp have in common the second one finds in L1.
    w.stats[s->stats].l1_hit_sectors += sectors - std::min(sectors, different);
  }

 private:
  std::array<std::array<u64, 32>, 16> addresses_;  // only lanes of the masks are set
  std::array<u32, 16> masks_{};
  u32 bytes_ = 0;
};

template <bool kGather>
const Step* texture(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const memory::TextureTable* table = w.launch->request->textures;
  StepStats& stats = w.stats[s->stats];
  // Lanes may use different objects; the first says how they go together.
  const memory::Texture* first =
      table == nullptr ? nullptr : table->texture(handle_of(w, s, __builtin_ctz(w.mask)));
  const u32 together = first != nullptr && first->linear_memory ? 8 : 4;
  memory::TextureRequests requests(together);
  TouchedTexels texels;
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
      requests.add(object->image, object->linear_memory, lane, touched.address[i]);
    if (w.observer != nullptr) texels.add(object->image, lane, touched);
    for (unsigned v = 0; v < in.vector; ++v) {
      u32 bits = texel.bits[v];
      if (in.type == ScalarType::kF16)
        bits = generic::nearest_half<generic::HalfFormat>(double{texel.value[v]});
      at<u32>(w, s->extra->d[v])[lane] = bits;
    }
  }
  stats.requests += groups_of_lanes(w.mask, together);
  requests.end_request();
  stats.sectors += requests.sectors();
  stats.lines += requests.passes();
  if (w.observer != nullptr) texels.tell(w, s, requests.sectors());
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

namespace {

using program::Edge;

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
  memory::TextureRequests requests(together);
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
      for (u32 part = 0; part < bytes; part += 16)
        requests.add(image, false, lane, reinterpret_cast<u64>(place) + part);
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
  requests.end_request();
  stats.sectors += requests.sectors();
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
