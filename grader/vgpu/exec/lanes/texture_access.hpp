// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What texture and surface instructions share: handles, coordinates, sectors.
/// Place in the chain: ops_texture.cpp, ops_surface.cpp.
#pragma once

#include <array>
#include <string>

#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/memory/number_set.hpp"

namespace membound::vgpu::exec {

/// The lane's handle is not that of a live `what` object.
inline const Step* no_such_object(Warp& w, const Step* s, int lane, std::uint64_t handle,
                                  const char* what) {
  return raise(w, s, FaultKind::kIllegalAddress, static_cast<std::uint32_t>(lane), handle,
               std::string("the handle is not that of a live ") + what + " object");
}

inline std::uint64_t handle_of(const Warp& w, const Step* s, int lane) {
  return generic::at<const std::uint64_t>(w, s->a)[lane];
}

/// Bits of source 1 + `index`.
inline std::uint32_t coordinate(const Warp& w, const Step* s, unsigned index, int lane) {
  return generic::at<const std::uint32_t>(w, s->extra->s[1 + index])[lane];
}

/// Neighbouring lanes go to the texture unit together, as far as one of them takes part: the
/// requests of an instruction. Four lanes for an array, eight for plain memory and flat surfaces.
[[nodiscard]] inline std::uint32_t groups_of_lanes(std::uint32_t mask, std::uint32_t lanes) {
  std::uint32_t count = 0;
  for (std::uint32_t first = 0; first < 32; first += lanes)
    count += (mask & (((1u << lanes) - 1) << first)) != 0;
  return count;
}

/// Sectors of those requests; each counts its own. A sector of an array is 16 bytes wide and two
/// rows high; of plain memory, 32 bytes.
class SectorCount {
 public:
  explicit SectorCount(std::uint32_t lanes) : lanes_(lanes) {}

  /// A texel at host address `place` of `image`, for this lane. Lanes come in order.
  void add(const memory::Image& image, bool plain, int lane, std::uint64_t place) {
    if (static_cast<std::uint32_t>(lane) / lanes_ != group_) {
      total_ += count_;
      count_ = 0;
      group_ = static_cast<std::uint32_t>(lane) / lanes_;
    }
    const std::uint64_t offset = place - reinterpret_cast<std::uint64_t>(image.texels);
    if (plain) {
      add(offset / memory::kSectorBytes);
      return;
    }
    const std::uint64_t slice = image.slice_bytes == 0 ? 0 : offset / image.slice_bytes;
    const std::uint64_t inside = offset - slice * image.slice_bytes;
    const std::uint64_t row = image.pitch_bytes == 0 ? 0 : inside / image.pitch_bytes;
    const std::uint64_t column = inside - row * image.pitch_bytes;
    add(slice << 44 | (row / 2) << 22 | column / 16);
  }
  [[nodiscard]] std::uint32_t count() const { return total_ + count_; }

 private:
  void add(std::uint64_t sector) {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (seen_[i] == sector) return;
    }
    if (count_ < seen_.size()) seen_[count_++] = sector;
  }

  std::array<std::uint64_t, 128> seen_;  // 4 lanes of 16 texels, 8 lanes of 1
  std::uint32_t lanes_;
  std::uint32_t group_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t total_ = 0;
};

[[nodiscard]] Handler select_surface(const program::Instruction& in);

}  // namespace membound::vgpu::exec
