// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Calls and returns, direct and through pointers, and the functions the device runtime provides.
#include <algorithm>
#include <bit>
#include <cstring>

#include "grader/vgpu/exec/lanes/print.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

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
using program::Value;
using program::ValueKind;

/// Faults where the running frame, with `more` bytes, is beyond the stack that a GPU's driver gives
/// a thread: what the kernel surely needs, or cudaLimitStackSize where that is more.
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

/// `bytes` of the lane's memory in `frame`.
std::byte* frame_place(const Warp& w, const Frame& frame, int lane, std::uint32_t offset,
                       std::uint32_t bytes) {
  return local_place(w, lane, std::uint64_t{frame.local_base} + offset, bytes);
}

/// Where the caller has what it passes or gets; a value has at most 8 bytes (the decoder's
/// promise).
std::byte* bytes_of(const Warp& w, const Frame& caller, const ArgumentCopy& copy, int lane) {
  if (!copy.value) return frame_place(w, caller, lane, copy.caller_offset, copy.size_bytes);
  return const_cast<std::byte*>(word_of(w, caller, copy.value, lane, copy.size_bytes));
}

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

const Step* call_builtin(Warp& w, const Step* s, const Call& call);

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
  if (frame->caller == nullptr) return exit_lanes(w);
  copy_results(w, *frame->call, *frame->caller, *frame, w.mask);
  Group& group = w.groups[w.current];
  group.pc = frame->return_to;
  group.frame = frame->caller;
  leave_frame(w, frame, static_cast<std::uint32_t>(__builtin_popcount(w.mask)));
  w.leave = Leave::kSwitch;
  return w.stop;
}

/// The 64- or 32-bit argument `index` of one lane.
std::uint64_t argument(Warp& w, const Call& call, std::size_t index, int lane) {
  std::uint64_t value = 0;
  if (index >= call.arguments.size()) return 0;
  const ArgumentCopy& copy = call.arguments[index];
  std::memcpy(&value, bytes_of(w, *w.frame, copy, lane), std::min(copy.size_bytes, 8u));
  return value;
}

void give_result(Warp& w, const Call& call, int lane, std::uint64_t value) {
  if (call.results.empty()) return;
  const ArgumentCopy& copy = call.results.front();
  std::memcpy(bytes_of(w, *w.frame, copy, lane), &value, std::min(copy.size_bytes, 8u));
}

/// Of a function that is called and nowhere there.
std::string missing_function_text(const std::string& name) {
  // What nvcc makes of kernel<<<…>>> in device code.
  if (name.starts_with("__cuda_syscall") || name.starts_with("cudaLaunchDevice") ||
      name.starts_with("cudaGetParameterBuffer"))
    return "a kernel that launches kernels (dynamic parallelism; call of '" + name +
           "') is not supported by the virtual GPU. Launch from the host, or run it on a GPU";
  return "call of '" + name +
         "', which no module of the program defines and the virtual GPU does not provide";
}

std::string assertion_text(Warp& w, const Call& call, int lane) {
  const auto text = [&](std::size_t index) {
    return read_string(w, lane, argument(w, call, index, lane));
  };
  return text(1) + ":" + std::to_string(argument(w, call, 2, lane)) + ": " + text(3) +
         ": Assertion `" + text(0) + "` failed.";
}

/// Tells the checkers of a gap; its address is generic.
void leave_a_gap(Warp& w, const Call& call) {
  if (w.observer == nullptr) return;
  const LocalWindows windows = local_windows(w);
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t offset = argument(w, call, 0, lane) - windows.of(lane);
    if (offset <= w.local_stride && program::kGapBytes <= w.local_stride - offset)
      w.observer->gap(w, static_cast<std::uint32_t>(lane), offset);
  }
}

/// What a lane's printf, malloc or free takes, in plain instructions of a warp.
constexpr u64 kBuiltinToll = 50;

const Step* call_builtin(Warp& w, const Step* s, const Call& call) {
  if (!grow_local(w, s,
                  std::uint64_t{w.frame->local_base} +
                      w.launch->code[w.frame->function].function->frame_bytes))
    return w.stop;
  if (call.builtin == Builtin::kGap) {
    leave_a_gap(w, call);
    return s + 1;
  }
  generic::charge(w, kBuiltinToll * lane_count(w.mask));
  DeviceCalls* device = w.launch->request->device_calls;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    switch (call.builtin) {
      case Builtin::kPrintf: {
        const std::string text =
            format_print(w, lane, argument(w, call, 0, lane), argument(w, call, 1, lane));
        generic::charge(w, text.size());
        const bool kept = device != nullptr && device->print(text);
        give_result(w, call, lane,
                    kept ? count_conversions(w, lane, argument(w, call, 0, lane)) : 0xFFFFFFFFu);
        break;
      }
      case Builtin::kMalloc: {
        const std::uint64_t bytes = argument(w, call, 0, lane);
        std::optional<Place> where;
        if (w.launch->request->checks.leakcheck)
          where = place_of(w, s, static_cast<std::uint32_t>(lane));
        const std::uint64_t address =
            device != nullptr ? device->allocate(bytes, where ? &*where : nullptr) : 0;
        if (address != 0 && w.observer != nullptr) w.observer->allocated(address, bytes);
        give_result(w, call, lane, address);
        break;
      }
      case Builtin::kFree: {
        const std::uint64_t address = argument(w, call, 0, lane);
        if (address != 0 && device != nullptr && !device->release(address))
          return raise(w, s, FaultKind::kIllegalAddress, static_cast<std::uint32_t>(lane), address,
                       "free of an address that device malloc did not return, or that was freed");
        break;
      }
      case Builtin::kAssertFail:
        return raise(w, s, FaultKind::kAssert, static_cast<std::uint32_t>(lane), 0,
                     assertion_text(w, call, lane));
      default:
        return raise(w, s, FaultKind::kUnsupportedInstruction, static_cast<std::uint32_t>(lane), 0,
                     missing_function_text(call.callee));
    }
  }
  return s + 1;
}

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

Handler select_call(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kCall:
      return in.as<CallSite>().callee != program::kNoTarget ? &call_direct : &call_pointer;
    case Opcode::kRet:
      return &return_from;
    case Opcode::kAlloca:
      return &allocate_on_stack;
    case Opcode::kStacksave:
      return &save_stack;
    case Opcode::kStackrestore:
      return &restore_stack;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
