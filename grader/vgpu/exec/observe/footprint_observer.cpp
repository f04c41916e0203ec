// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/footprint_observer.hpp"

#include <bit>

namespace membound::vgpu::exec {

Footprint::Part& FootprintObserver::part_of(const WarpAccess& access) {
  Footprint::Part*& part = parts_[access.step];
  if (part == nullptr) {
    part = &footprint_.parts.emplace_back();
    part->place = place_of(*access.warp, access.step,
                           static_cast<std::uint32_t>(std::countr_zero(access.mask)));
    part->kind = access.kind;
  }
  return *part;
}

void FootprintObserver::access(const WarpAccess& access) {
  if (access.space != ptx::StateSpace::kGlobal || footprint_.too_large || access.mask == 0) return;
  if (for_races_ && access.step->extra->in->order == program::Order::kVolatile) return;
  memory::AddressRanges& ranges = part_of(access).ranges;
  const std::size_t before = ranges.count();
  std::uint64_t begin = 0, end = 0;  // of lanes that are neighbours
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = access.addresses[std::countr_zero(rest)];
    if (address != end) {
      ranges.add(begin, end);
      begin = address;
    }
    end = address + access.bytes;
  }
  ranges.add(begin, end);
  ranges_ += ranges.count() - before;
  if (ranges_ <= Footprint::kMostRanges) return;
  footprint_.too_large = true;
  footprint_.parts.clear();
}

}  // namespace membound::vgpu::exec
