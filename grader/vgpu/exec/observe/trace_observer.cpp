// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/trace_observer.hpp"

#include <bit>

namespace membound::vgpu::exec {

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
