// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/execution_state.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "grader/base/processor.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::exec {

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIllegalAddress:
      return "illegal address";
    case FaultKind::kMisalignedAddress:
      return "misaligned address";
    case FaultKind::kAssert:
      return "assertion failed";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kStepLimit:
      return "step limit reached";
    case FaultKind::kUnsupportedInstruction:
      return "unsupported instruction";
    case FaultKind::kStackOverflow:
      return "stack overflow";
    case FaultKind::kStopped:
      return "stopped";
  }
  return "";
}

void set_mask(Warp& w, std::uint32_t mask) {
  w.mask = mask;
  w.full = mask == w.live;
  if (w.full) return;
  for (std::uint32_t i = 0; i < 32; ++i) w.lanes[i] = 0u - ((mask >> i) & 1);
}

Place place_of(const Warp& w, const Step* at, std::uint32_t lane) {
  const Launch& launch = *w.launch;
  Place place;
  place.kernel = launch.kernel->name;
  place.block = w.block->index;
  place.thread = launch.request->block.index(std::uint64_t{w.index} * 32 + lane);
  const FunctionCode& code = launch.code[at->extra->function];
  const auto index = static_cast<std::size_t>(at - code.begin);
  const auto files = launch.request->program->files();
  const program::SourceLine line = code.function->lines[index];
  if (line.line != 0 && line.file < files.size()) {
    place.file = files[line.file];
    place.line = line.line;
  }
  place.ptx_line = at->extra->in->ptx_line;
  place.instruction = std::string(at->extra->in->mnemonic);
  return place;
}

const Step* raise(Warp& w, const Step* at, FaultKind kind, std::uint32_t lane,
                  std::uint64_t address, std::string text) {
  Launch& launch = *w.launch;
  const std::lock_guard lock(launch.mutex);
  if (!launch.fault || w.block->linear < launch.fault_block) {
    launch.fault = Fault{kind, place_of(w, at, lane), address, std::move(text)};
    launch.fault_block = w.block->linear;
  }
  launch.halt.store(true, std::memory_order_relaxed);
  w.leave = Leave::kFault;
  return w.stop;
}

Variant best_variant() {
  const char* const wish = std::getenv("MEMBOUND_HANDLERS");
  if (wish != nullptr && std::string_view(wish) == "generic") return Variant::kGeneric;
  if (base::runs_newer_lanes()) return Variant::kAvx2;
#ifdef MEMBOUND_NEWER_LANES_ONLY
  std::fputs(
      "Membound was built here on a machine with a newer processor: it needs AVX2, FMA and BMI2, "
      "which this one lacks. ./membound doctor builds it again for both.\n",
      stderr);
  std::_Exit(3);
#endif
  return Variant::kGeneric;
}

}  // namespace membound::vgpu::exec
