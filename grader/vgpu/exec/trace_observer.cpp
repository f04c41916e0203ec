// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/trace_observer.hpp"

#include <bit>

namespace membound::vgpu::exec {

void TraceObserver::access(const WarpAccess& access) {
  if (next_ != nullptr) next_->access(access);
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

void TraceObserver::barrier(Warp& warp, const Step* step, bool whole_warp) {
  if (next_ != nullptr) next_->barrier(warp, step, whole_warp);
}

void TraceObserver::collective(Warp& warp, const Step* step, std::uint32_t members,
                               std::uint32_t present) {
  if (next_ != nullptr) next_->collective(warp, step, members, present);
}

void TraceObserver::epoch(Block& block) {
  if (next_ != nullptr) next_->epoch(block);
}

void TraceObserver::fence(Warp& warp, const Step* step) {
  if (next_ != nullptr) next_->fence(warp, step);
}

bool TraceObserver::bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) {
  return next_ != nullptr && next_->bad_access(access, kind, lane);
}

}  // namespace membound::vgpu::exec
