// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/misuse.hpp"

#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/symbols.hpp"
#include "grader/vgpu/runtime/device/traced_work.hpp"

namespace membound::vgpu::runtime {
namespace {

/// What is wrong, and what to do.
struct Reason {
  std::string text, advice;
};

constexpr const char* kKeepPointer =
    "free it once, and not before its last use; set the pointer to nullptr then";

void report(Context& context, std::string_view call, std::uint64_t address, const Reason& reason,
            const char* kind = "refused call") {
  exec::CheckReport found;
  found.checker = "apicheck";
  found.kind = kind;
  found.address = address;
  // Per-thread spellings are the compiler's (--default-stream per-thread), not the program's.
  found.text = std::string(call.substr(0, call.find("_pt"))) + ": " + reason.text;
  found.advice = reason.advice;
  context.log.add_report(to_json(found));
  messages::print(found.checker + ": " + found.kind + "\n  " + found.text +
                  "\n  try: " + found.advice);
}

/// Why [address, address + bytes) of the device cannot be used; nothing where it can.
std::optional<Reason> why_not_on_device(const Context& context, const std::string& side,
                                        std::uint64_t address, std::uint64_t bytes) {
  if (const auto freed = context.memory.find_freed(address))
    return Reason{side + " lies in " + exec::describe(*freed) + ", which was freed", kKeepPointer};
  const auto held = context.memory.find(address);
  if (!held)
    return Reason{side + " " + exec::hex(address) + " lies in no allocation",
                  "pass the pointer that cudaMalloc gave, or one into its memory"};
  const std::uint64_t left = held->size_bytes - (address - held->address);
  if (bytes <= left) return std::nullopt;
  return Reason{std::to_string(bytes) + " bytes are asked for, and from " + side + " on only " +
                    std::to_string(left) + " are left of " + exec::describe(*held),
                "count bytes, not elements: n * sizeof(T), as in the call that allocated it"};
}

std::optional<Reason> why_not(const Context& context, const std::string& side, const CopyEnd& end,
                              std::uint64_t bytes, std::optional<bool> kind_says_device) {
  if (end.address == 0)
    return Reason{side + " is a null pointer", "look at what the call that allocated it returned"};
  const bool device = context.memory.is_device_address(end.address);
  if (kind_says_device && *kind_says_device != device &&
      (device || !is_shared_memory(context, end.address)))
    return Reason{"the kind says that " + side + " is memory of the " +
                      (*kind_says_device ? "device" : "host") + ", but " + exec::hex(end.address) +
                      " is the " + (device ? "device's" : "host's"),
                  "cudaMemcpyHostToDevice goes to the device, cudaMemcpyDeviceToHost comes from "
                  "it; the destination is the first argument. Or leave it to cudaMemcpyDefault"};
  return device ? why_not_on_device(context, side, end.address, bytes) : std::nullopt;
}

}  // namespace

void tell_of_refused_copy(Context& context, std::string_view call, const CopyOperation& copy,
                          cudaMemcpyKind kind) {
  const bool of_arrays = copy.as_given.srcArray != nullptr || copy.as_given.dstArray != nullptr;
  if (!context.settings.checks.apicheck || copy.width_bytes == 0 || of_arrays) return;
  std::optional<bool> to_device, from_device;
  if (kind != cudaMemcpyDefault) {
    to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  }
  auto reason = why_not(context, "the destination", copy.to, reach_bytes(copy.to, copy), to_device);
  std::uint64_t address = copy.to.address;
  if (!reason) {
    reason = why_not(context, "the source", copy.from, reach_bytes(copy.from, copy), from_device);
    address = copy.from.address;
  }
  if (!reason)
    reason = Reason{"the kind or the pitch is none that a copy can have",
                    "a pitch is at least as large as the width of a row, in bytes"};
  report(context, call, address, *reason);
}

void tell_of_overlap(Context& context, std::string_view call, const CopyOperation& copy) {
  const bool within = copy.to.on_device && copy.from.on_device && copy.width_bytes != 0;
  if (!context.settings.checks.apicheck || !within) return;
  if (copy.to.address >= copy.from.address + reach_bytes(copy.from, copy) ||
      copy.from.address >= copy.to.address + reach_bytes(copy.to, copy))
    return;
  const exec::Footprint touched = traced(copy).footprint;
  const auto common = touched.parts[0].ranges.first_common(touched.parts[1].ranges);
  if (!common) return;
  report(context, call, *common,
         {exec::hex(*common) + " is both read and written, and in which order is not defined",
          "copy by way of another array, or move the elements by a kernel"},
         "overlapping copy");
}

void tell_of_refused_symbol(Context& context, std::string_view call, const void* symbol,
                            std::size_t offset, std::size_t bytes) {
  if (!context.settings.checks.apicheck) return;
  std::size_t held = 0;
  Reason reason{"the symbol is no variable of the program that the device has",
                "pass the __device__ or __constant__ variable itself, not its name or address"};
  if (symbol_size(context, symbol, held) == cudaSuccess)
    reason = {std::to_string(bytes) + " bytes are asked for from byte " + std::to_string(offset) +
                  " on, and the variable has " + std::to_string(held),
              "count bytes, not elements, and give the offset in bytes, too"};
  report(context, call, 0, reason);
}

void tell_of_refused_fill(Context& context, std::string_view call, const FillOperation& fill) {
  if (!context.settings.checks.apicheck || fill.width == 0) return;
  const std::uint64_t bytes = (fill.depth - 1) * fill.slice_bytes +
                              (fill.height - 1) * fill.pitch_bytes +
                              fill.width * fill.element_bytes;
  auto reason = why_not(context, "the destination", {fill.address, 0, 0, true}, bytes, true);
  if (!reason)
    reason = Reason{"the pitch is smaller than a row",
                    "a pitch is at least as large as the width of a row, in bytes"};
  report(context, call, fill.address, *reason);
}

void tell_of_refused_free(Context& context, std::string_view call, const void* pointer,
                          bool wants_host) {
  if (!context.settings.checks.apicheck) return;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::string what = exec::hex(address);
  Reason reason{what + " is no memory that a call of CUDA gave out, or it was freed before",
                kKeepPointer};
  const auto* const host = context.find_host_memory(address);
  if (const auto freed = context.memory.find_freed(address))
    reason = {exec::describe(*freed) + " was freed before", kKeepPointer};
  else if (host != nullptr && host->second.is_registered)
    reason = {what + " is the program's own memory, which cudaHostRegister pinned",
              "cudaHostUnregister it, and free it as it was allocated"};
  else if (host != nullptr && !wants_host && !host->second.is_managed)
    reason = {what + " is pinned memory of the host", "give it back with cudaFreeHost"};
  else if (const auto held = context.memory.find(address))
    reason = wants_host
                 ? Reason{what + " lies in " + exec::describe(*held) +
                              ", which is no pinned memory of the host",
                          "give it back with cudaFree"}
                 : Reason{what + " lies inside " + exec::describe(*held) + ", not at its start",
                          "pass the pointer that cudaMalloc gave"};
  report(context, call, address, reason);
}

}  // namespace membound::vgpu::runtime
