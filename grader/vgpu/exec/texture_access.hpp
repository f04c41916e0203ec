// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What texture and surface instructions share: handles, coordinates, sectors.
/// Place in the chain: exec/ops_texture.cpp, exec/ops_surface.cpp.
#pragma once

#include <array>
#include <string>

#include "grader/vgpu/exec/access.hpp"
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

/// Sectors of a request, over all texels of all lanes.
class SectorCount {
 public:
  void add(std::uint64_t address) {
    const std::uint64_t sector = address / memory::kSectorBytes;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (seen_[i] == sector) return;
    }
    if (count_ < seen_.size()) seen_[count_++] = sector;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::array<std::uint64_t, 256> seen_;
  std::uint32_t count_ = 0;
};

[[nodiscard]] Handler select_surface(const program::Instruction& in);

}  // namespace membound::vgpu::exec
