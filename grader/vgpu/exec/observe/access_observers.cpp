// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/access_observers.hpp"

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

void TraceObserver::access(const WarpAccess& access) {
  const Tracing& tracing = launch_.request->tracing;
  const Warp& warp = *access.warp;
  if (warp.index != tracing.warp || warp.block->index != tracing.block) return;
  const program::Instruction& in = *access.step->extra->in;
  // The shared half of an asynchronous copy takes no turn of its own.
  if (in.opcode == program::Opcode::kCpAsync && access.space == ptx::StateSpace::kShared) return;
  const Place place =
      place_of(warp, access.step, static_cast<std::uint32_t>(std::countr_zero(access.mask)));
  const AccessEvent event{place.file,  place.line,  place.ptx_line, in.mnemonic,     access.space,
                          access.kind, access.mask, access.bytes,   access.addresses};
  tracing.listener->on_access(event);
}

}  // namespace membound::vgpu::exec
