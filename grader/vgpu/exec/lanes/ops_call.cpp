// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/ops_call.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using program::ArgumentCopy;
using program::Value;
using program::ValueKind;

/// Where a register Value of a frame (or a constant) has the word of `lane`.
const std::byte* word_of(const Warp& w, const Frame& frame, const Value& value, int lane,
                         std::uint32_t bytes) {
  const std::size_t width = bytes > 4 ? 8 : 4;
  const std::byte* base = value.kind == ValueKind::kRegister   ? frame.registers
                          : value.kind == ValueKind::kConstant ? w.bases[kConstantArea]
                          : value.kind == ValueKind::kWarp     ? w.bases[kWarpArea]
                                                               : w.bases[kBlockArea];
  return base + std::size_t{value.index} * 128 + static_cast<std::size_t>(lane) * width;
}

}  // namespace

std::byte* frame_place(const Warp& w, const Frame& frame, int lane, std::uint32_t offset,
                       std::uint32_t bytes) {
  return local_place(w, lane, std::uint64_t{frame.local_base} + offset, bytes);
}

std::byte* bytes_of(const Warp& w, const Frame& caller, const ArgumentCopy& copy, int lane) {
  if (!copy.value) return frame_place(w, caller, lane, copy.caller_offset, copy.size_bytes);
  return const_cast<std::byte*>(word_of(w, caller, copy.value, lane, copy.size_bytes));
}

namespace {

using generic::at;
using generic::end_run;
using program::Builtin;
using program::Call;
using program::CallSite;
using program::Instruction;
using program::Opcode;

const Call& call_of(const Warp& w, const Step* s) {
  return w.launch->code[s->extra->function].function->calls[s->extra->in->as<CallSite>().call];
}

void copy_arguments(Warp& w, const Call& call, const Frame& caller, const Frame& callee,
                    std::uint32_t mask) {
  for (const ArgumentCopy& copy : call.arguments) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const std::byte* from = bytes_of(w, caller, copy, lane);
      std::memcpy(frame_place(w, callee, lane, copy.callee_offset, copy.size_bytes), from,
                  copy.size_bytes);
    }
  }
}

void copy_results(Warp& w, const Call& call, const Frame& caller, const Frame& callee,
                  std::uint32_t mask) {
  for (const ArgumentCopy& copy : call.results) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const std::byte* from = frame_place(w, callee, lane, copy.callee_offset, copy.size_bytes);
      std::memcpy(bytes_of(w, caller, copy, lane), from, copy.size_bytes);
    }
  }
}

std::span<const program::Function> functions_of(const Warp& w) {
  return w.launch->request->program->functions();
}

/// A call whose layout of results and parameters is not the callee's: both would use memory that is
/// not theirs.
std::string describe_wrong_call(const Call& call, const program::Function& callee) {
  if (callee.is_entry)
    return "call of '" + callee.name + "', which is a kernel: a kernel can only be launched";
  const auto passes = [](const program::Signature& signature) {
    const std::size_t results = signature.results, all = signature.fields.size();
    std::uint64_t bytes = 0;
    for (const program::FrameField& field : signature.fields) bytes += field.size_bytes;
    return std::to_string(results) + (results == 1 ? " result and " : " results and ") +
           std::to_string(all - results) + (all - results == 1 ? " parameter (" : " parameters (") +
           std::to_string(bytes) + " bytes in all)";
  };
  return "the call has " + passes(call.signature) + ", but '" + callee.name + "' has " +
         passes(callee.signature) + ": the function pointer was cast to another type";
}

/// The running group enters `function` (index into Launch::code) and will come back to s + 1.
const Step* enter(Warp& w, const Step* s, std::uint32_t function) {
  Group& group = w.groups[w.current];
  Frame* caller = w.frame;
  const FunctionCode& code = w.launch->code[function];
  const Call& call = call_of(w, s);
  if (code.function->is_entry || call.signature != code.function->signature)
    return raise(w, s, FaultKind::kIllegalAddress,
                 static_cast<std::uint32_t>(__builtin_ctz(w.mask)),
                 program::function_address(
                     static_cast<std::uint32_t>(code.function - functions_of(w).data())),
                 describe_wrong_call(call, *code.function));
  // Lanes that come back one by one meet again in the caller's frame, which counts them all along.
  Frame* frame =
      make_frame(w, function, caller, static_cast<std::uint32_t>(__builtin_popcount(w.mask)));
  frame->return_to = s + 1;
  frame->call = &call;
  w.frame = frame;
  if (!stack_holds(w, s, 0)) return w.stop;
  if (!grow_local(w, s, std::uint64_t{frame->local_base} + code.function->frame_bytes))
    return w.stop;
  copy_arguments(w, call, *caller, *frame, w.mask);
  if (w.observer != nullptr) w.observer->enters(w);
  group.frame = frame;
  group.pc = code.begin;
  w.leave = Leave::kSwitch;
  return w.stop;
}

const Step* call_direct(Warp& w, const Step* s) {
  const Call& call = call_of(w, s);
  if (call.builtin != Builtin::kNone) return call_builtin(w, s, call);
  end_run(w, s + 1);
  return enter(w, s, w.launch->code_of[s->extra->in->as<CallSite>().callee]);
}

/// Lanes may hold different pointers: those equal to the first lane's go now, the others wait here.
const Step* call_pointer(Warp& w, const Step* s) {
  const std::uint64_t* pointers = at<const std::uint64_t>(w, s->a);
  const std::uint64_t pointer = pointers[__builtin_ctz(w.mask)];
  std::uint32_t together = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (pointers[lane] == pointer) together |= 1u << lane;
  }
  const std::uint64_t index = pointer / 16 - 1;
  const auto& code_of = w.launch->code_of;
  if (pointer == 0 || pointer % 16 != 0 || index >= code_of.size() ||
      code_of[index] == program::kNoTarget || !w.launch->code[code_of[index]].function->has_body) {
    return raise(w, s, FaultKind::kIllegalAddress,
                 static_cast<std::uint32_t>(__builtin_ctz(w.mask)), pointer,
                 "call through a pointer that is not the address of a device function");
  }
  const std::uint32_t others = w.mask & ~together;
  if (others != 0) {
    end_run(w, s);
    w.run_begin = s;
    set_mask(w, together);
    w.groups[w.current].mask = together;
    const Group& here = w.groups[w.current];
    w.launch->scheduler->add_group(w, s, others, w.frame, here.penalty).rejoin = here.rejoin;
  }
  end_run(w, s + 1);
  return enter(w, s, code_of[index]);
}

const Step* return_from(Warp& w, const Step* s) {
  end_run(w, s + 1);
  Frame* frame = w.frame;
  if (frame->caller == nullptr) return exit_lanes(w, s);
  copy_results(w, *frame->call, *frame->caller, *frame, w.mask);
  Group& group = w.groups[w.current];
  group.pc = frame->return_to;
  group.frame = frame->caller;
  leave_frame(w, frame, static_cast<std::uint32_t>(__builtin_popcount(w.mask)));
  w.leave = Leave::kSwitch;
  return w.stop;
}

}  // namespace

Handler select_call(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kCall:
      return in.as<CallSite>().callee != program::kNoTarget ? &call_direct : &call_pointer;
    case Opcode::kRet:
      return &return_from;
    case Opcode::kAlloca:
    case Opcode::kStacksave:
    case Opcode::kStackrestore:
      return select_stack(in);
    default:
      return nullptr;
  }
}

namespace {

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
