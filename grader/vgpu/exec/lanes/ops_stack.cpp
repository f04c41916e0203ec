// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The stack of a thread: its limit, and room taken from it while a function runs.
#include <algorithm>
#include <bit>

#include "grader/vgpu/exec/lanes/ops_call.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using program::Instruction;
using program::Opcode;

/// Every lane gets room for the largest request of the group; the frame's end gives it back.
const Step* allocate_on_stack(Warp& w, const Step* s) {
  const auto slots = s->extra->in->s_slots;
  std::uint64_t bytes = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t wanted = slots == 2 ? at<const std::uint64_t>(w, s->a)[lane]
                                            : at<const std::uint32_t>(w, s->a)[lane];
    bytes = wanted > bytes ? wanted : bytes;
  }
  Frame& frame = *w.frame;
  if (!stack_holds(w, s, bytes)) return w.stop;
  const std::uint64_t limit = w.launch->request->limits.local_bytes;
  const std::uint64_t own = w.launch->code[frame.function].function->frame_bytes;
  const std::uint64_t address = frame.local_base + own + frame.alloca_bytes;
  if (bytes <= limit) bytes = (bytes + 15) / 16 * 16;
  if (bytes > limit || address > limit - bytes)
    return raise(w, s, FaultKind::kStackOverflow, static_cast<std::uint32_t>(__builtin_ctz(w.mask)),
                 0, "alloca of " + std::to_string(bytes) + " bytes exceeds the stack limit");
  frame.alloca_bytes += static_cast<std::uint32_t>(bytes);
  if (!grow_local(w, s, address + bytes)) return w.stop;
  std::uint64_t values[32];
  for (std::uint64_t& value : values) value = address;
  generic::write_lanes(w, s->d, values);
  return s + 1;
}

/// Saving the stack needs no more than a number: the bytes taken above the frame's own.
const Step* save_stack(Warp& w, const Step* s) {
  std::uint64_t wide[32];
  std::uint32_t narrow[32];
  for (int i = 0; i < 32; ++i)
    narrow[i] = static_cast<std::uint32_t>(wide[i] = w.frame->alloca_bytes);
  if (s->extra->in->d_slots == 2)
    generic::write_lanes(w, s->d, wide);
  else
    generic::write_lanes(w, s->d, narrow);
  return s + 1;
}

/// Lanes of a frame share one number. While some of them are elsewhere they may hold memory above
/// it, so it stays, and the function's return gives the memory back.
const Step* restore_stack(Warp& w, const Step* s) {
  Frame& frame = *w.frame;
  if (static_cast<std::uint32_t>(std::popcount(w.mask)) != frame.lanes) return s + 1;
  std::uint64_t most = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t saved = s->extra->in->s_slots == 2 ? at<const std::uint64_t>(w, s->a)[lane]
                                                           : at<const std::uint32_t>(w, s->a)[lane];
    most = saved > most ? saved : most;
  }
  if (most < frame.alloca_bytes) frame.alloca_bytes = static_cast<std::uint32_t>(most);
  return s + 1;
}

}  // namespace

bool stack_holds(Warp& w, const Step* s, std::uint64_t more) {
  const std::uint64_t limit =
      std::max(w.launch->request->limits.stack_bytes, w.launch->kernel->stack_bytes);
  const std::uint64_t used = w.frame->stack_bytes + w.frame->alloca_bytes;
  if (more <= limit && used <= limit - more) return true;
  raise(w, s, FaultKind::kStackOverflow, static_cast<std::uint32_t>(__builtin_ctz(w.mask)), 0,
        std::to_string(w.frame->depth) + " calls deep" +
            (more == 0 ? "" : ", an alloca of " + std::to_string(more) + " bytes") +
            ": a thread's stack has " + std::to_string(limit) +
            " bytes. Recursion must end earlier, or cudaDeviceSetLimit(cudaLimitStackSize, bytes) "
            "make the stack larger (at most 512 KiB)");
  return false;
}

Handler select_stack(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kAlloca:
      return &allocate_on_stack;
    case Opcode::kStacksave:
      return &save_stack;
    default:
      return &restore_stack;
  }
}

}  // namespace membound::vgpu::exec
