// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Calls and returns, direct and through pointers.
#include "grader/vgpu/exec/lanes/ops_call.hpp"

#include <cstring>

#include "grader/vgpu/exec/lanes/call_values.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::end_run;
using program::ArgumentCopy;
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

}  // namespace membound::vgpu::exec
