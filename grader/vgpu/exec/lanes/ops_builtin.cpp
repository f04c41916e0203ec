// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The functions the device runtime provides: printf, malloc, free, a failed assertion.
#include <algorithm>
#include <cstring>

#include "grader/vgpu/exec/lanes/call_values.hpp"
#include "grader/vgpu/exec/lanes/ops_call.hpp"
#include "grader/vgpu/exec/lanes/print.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/local_window.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::u64;
using program::ArgumentCopy;
using program::Builtin;
using program::Call;

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

}  // namespace

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

}  // namespace membound::vgpu::exec
