// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/data_movement.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"

namespace membound::vgpu::runtime {

std::uint64_t reach_bytes(const CopyEnd& end, const CopyOperation& copy) {
  return (copy.depth - 1) * end.slice_bytes + (copy.height - 1) * end.pitch_bytes +
         copy.width_bytes;
}

bool is_shared_memory(const Context& context, std::uint64_t address) {
  return context.find_host_memory(address) != nullptr ||
         (!context.memory.is_device_address(address) && context.memory.find(address).has_value());
}

namespace {

std::uint64_t value_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

bool is_empty(const CopyOperation& copy) {
  return copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0;
}

bool side_fits(const Context& context, const CopyEnd& end, const CopyOperation& copy,
               bool kind_says_device) {
  if (end.on_device)
    return kind_says_device &&
           context.memory.host_bytes(end.address, reach_bytes(end, copy)) != nullptr;
  return !kind_says_device || is_shared_memory(context, end.address);
}

void move_row(Context& context, const CopyEnd& to, const CopyEnd& from, std::uint64_t to_offset,
              std::uint64_t from_offset, std::size_t bytes) {
  const std::uint64_t target = to.address + to_offset;
  const std::uint64_t source = from.address + from_offset;
  if (to.on_device && from.on_device)
    context.memory.copy(target, source, bytes);
  else if (to.on_device)
    context.memory.copy_in(target, reinterpret_cast<const void*>(source), bytes);
  else if (from.on_device)
    context.memory.copy_out(reinterpret_cast<void*>(target), source, bytes);
  else
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
}

double copy_ns(const Context& context, const CopyOperation& copy) {
  const double bytes = static_cast<double>(copy.width_bytes * copy.height * copy.depth);
  const timing::Machine& m = context.machine;
  if (copy.to.on_device && copy.from.on_device)
    return m.launch_ns + m.ramp_ns + 2 * bytes / m.dram_reached_gbs;
  const double rate = copy_blocks_host(context, copy) ? m.pageable_gbs : m.host_link_gbs;
  return m.copy_latency_ns + bytes / rate;
}

/// The address and strides of one side of a 3D copy; positions are elements of an array, bytes of
/// plain memory.
CopyEnd end_of(cudaArray_t array, const cudaPos& position, const cudaPitchedPtr& pointer) {
  if (array != nullptr) {
    const memory::Image& image = array->image;
    const std::size_t texel = image.channels * image.channel_bits / 8;
    return {array->address + position.z * image.slice_bytes + position.y * image.pitch_bytes +
                position.x * texel,
            image.pitch_bytes, image.slice_bytes, true};
  }
  const std::size_t slice = pointer.pitch * pointer.ysize;
  return {value_of(pointer.ptr) + position.z * slice + position.y * pointer.pitch + position.x,
          pointer.pitch, slice, false};
}

bool box_fits(const cudaArray& array, const cudaPos& position, const cudaExtent& extent) {
  const memory::Image& image = array.image;
  return position.x + extent.width <= image.width && position.y + extent.height <= image.height &&
         position.z + extent.depth <= std::max(image.depth, image.layers);
}

/// Of all rows of a copy.
struct Unwritten {
  std::uint64_t bytes = 0;
  std::uint64_t first = 0;  ///< address
};

Unwritten unwritten(const Context& context, const CopyOperation& copy) {
  Unwritten all;
  for (std::size_t z = 0; z < copy.depth; ++z)
    for (std::size_t y = 0; y < copy.height; ++y) {
      const std::uint64_t row =
          copy.from.address + z * copy.from.slice_bytes + y * copy.from.pitch_bytes;
      const memory::UnwrittenBytes found = context.memory.unwritten(row, copy.width_bytes);
      if (all.bytes == 0) all.first = row + found.first;
      all.bytes += found.count;
    }
  return all;
}

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
  return Reason{base::counted(bytes, "byte") + (bytes == 1 ? " is" : " are") +
                    " asked for, and from " + side + " on only " + std::to_string(left) +
                    (left == 1 ? " is" : " are") + " left of " + exec::describe(*held),
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

bool is_device_pointer(const Context& context, const void* pointer) {
  return context.memory.is_device_address(value_of(pointer));
}

bool copy_blocks_host(const Context& context, const CopyOperation& copy) {
  const auto pageable = [&](const CopyEnd& end) {
    return !end.on_device && !is_shared_memory(context, end.address);
  };
  return pageable(copy.to) || pageable(copy.from);
}

cudaError_t check_copy(const Context& context, CopyOperation& copy, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (is_empty(copy)) return cudaSuccess;
  if (copy.to.address == 0 || copy.from.address == 0) return cudaErrorInvalidValue;
  copy.to.on_device = context.memory.is_device_address(copy.to.address);
  copy.from.on_device = context.memory.is_device_address(copy.from.address);
  const bool by_pointer = kind == cudaMemcpyDefault;
  const bool to_device = by_pointer
                             ? copy.to.on_device
                             : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = by_pointer
                               ? copy.from.on_device
                               : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool fits = side_fits(context, copy.to, copy, to_device) &&
                    side_fits(context, copy.from, copy, from_device);
  return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t make_copy(const Context& context, CopyOperation& out, void* to, const void* from,
                      std::size_t bytes, cudaMemcpyKind kind) {
  out.to = {value_of(to), bytes, bytes, false};
  out.from = {value_of(from), bytes, bytes, false};
  out.width_bytes = bytes;
  return check_copy(context, out, kind);
}

cudaError_t make_copy_3d(const Context& context, CopyOperation& out,
                         const cudaMemcpy3DParms& parameters) {
  const cudaMemcpy3DParms& p = parameters;
  out.as_given = p;
  for (cudaArray_t array : {p.srcArray, p.dstArray})
    if (array != nullptr && !context.arrays.has(array)) return cudaErrorInvalidResourceHandle;
  if ((p.srcArray == nullptr) == (p.srcPtr.ptr == nullptr) ||
      (p.dstArray == nullptr) == (p.dstPtr.ptr == nullptr))
    return cudaErrorInvalidValue;
  // The extent counts elements as soon as an array takes part, else bytes.
  cudaArray_t array = p.srcArray ? p.srcArray : p.dstArray;
  const std::size_t unit = array ? array->image.channels * array->image.channel_bits / 8 : 1;
  out.width_bytes = p.extent.width * unit;
  out.height = p.extent.height;
  out.depth = p.extent.depth;
  if (is_empty(out)) return cudaSuccess;
  if (p.srcArray && !box_fits(*p.srcArray, p.srcPos, p.extent)) return cudaErrorInvalidValue;
  if (p.dstArray && !box_fits(*p.dstArray, p.dstPos, p.extent)) return cudaErrorInvalidValue;
  out.from = end_of(p.srcArray, p.srcPos, p.srcPtr);
  out.to = end_of(p.dstArray, p.dstPos, p.dstPtr);
  for (const CopyEnd* end : {&out.from, &out.to})
    if (out.height > 1 && end->pitch_bytes < out.width_bytes) return cudaErrorInvalidPitchValue;
  return check_copy(context, out, p.kind);
}

cudaError_t check_fill(const Context& context, FillOperation& fill) {
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  const std::uint64_t row = fill.width * fill.element_bytes;
  if (fill.height > 1 && fill.pitch_bytes < row) return cudaErrorInvalidValue;
  const std::uint64_t reach =
      (fill.depth - 1) * fill.slice_bytes + (fill.height - 1) * fill.pitch_bytes + row;
  fill.on_device = context.memory.is_device_address(fill.address);
  if (fill.on_device)
    return context.memory.host_bytes(fill.address, reach) ? cudaSuccess : cudaErrorInvalidValue;
  return is_shared_memory(context, fill.address) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t run_copy(Context& context, Timeline& timeline, const CopyOperation& copy) {
  if (is_empty(copy)) return cudaSuccess;
  if (context.is_lost()) return cudaSuccess;
  tell_of_unwritten(context, copy);
  const bool rows_touch = copy.height == 1 || (copy.to.pitch_bytes == copy.width_bytes &&
                                               copy.from.pitch_bytes == copy.width_bytes);
  const std::size_t rows = rows_touch ? 1 : copy.height;
  const std::size_t row_bytes = rows_touch ? copy.width_bytes * copy.height : copy.width_bytes;
  for (std::size_t z = 0; z < copy.depth; ++z)
    for (std::size_t y = 0; y < rows; ++y)
      move_row(context, copy.to, copy.from, z * copy.to.slice_bytes + y * copy.to.pitch_bytes,
               z * copy.from.slice_bytes + y * copy.from.pitch_bytes, row_bytes);
  const double ns = copy_ns(context, copy);
  if (copy.to.on_device == copy.from.on_device) {
    timeline.ready_ns += ns;
  } else {
    const auto engine = copy.to.on_device ? CopyEngine::kHostToDevice : CopyEngine::kDeviceToHost;
    timeline.ready_ns = context.clock.run_copy(engine, timeline.ready_ns, ns).end_ns;
  }
  timeline.after_kernel = false;
  context.last_work = {timeline.ready_ns - ns, timeline.ready_ns};
  return cudaSuccess;
}

cudaError_t run_fill(Context& context, Timeline& timeline, const FillOperation& fill) {
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return cudaSuccess;
  if (context.is_lost()) return cudaSuccess;
  const std::size_t row_bytes = fill.width * fill.element_bytes;
  for (std::size_t z = 0; z < fill.depth; ++z)
    for (std::size_t y = 0; y < fill.height; ++y) {
      const std::uint64_t address = fill.address + z * fill.slice_bytes + y * fill.pitch_bytes;
      std::byte* bytes = fill.on_device ? context.memory.host_bytes(address, row_bytes)
                                        : reinterpret_cast<std::byte*>(address);
      if (fill.element_bytes == 1) {
        std::memset(bytes, static_cast<int>(fill.value & 0xff), row_bytes);
      } else {
        for (std::size_t x = 0; x < fill.width; ++x)
          std::memcpy(bytes + x * fill.element_bytes, &fill.value, fill.element_bytes);
      }
      if (fill.on_device) context.memory.mark_initialised(address, row_bytes);
    }
  const double bytes = static_cast<double>(row_bytes * fill.height * fill.depth);
  const double ns = context.machine.launch_ns + context.machine.ramp_ns +
                    bytes / context.machine.dram_reached_gbs;
  context.last_work = {timeline.ready_ns, timeline.ready_ns + ns};
  timeline = {timeline.ready_ns + ns, false};
  return cudaSuccess;
}

void tell_of_unwritten(Context& context, const CopyOperation& copy) {
  const bool asked = context.settings.checks.initcheck && !context.is_judged;
  if (!asked || !copy.from.on_device || copy.to.on_device) return;
  const auto array = context.memory.find(copy.from.address);
  if (!array || array->info.kind != memory::AllocationKind::kMalloc) return;
  const Unwritten found = unwritten(context, copy);
  if (found.bytes == 0) return;
  const std::uint64_t all = copy.width_bytes * copy.height * copy.depth;
  exec::CheckReport report;
  report.checker = "initcheck";
  report.kind = "uninitialised copy";
  report.address = found.first;
  report.size_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(found.bytes, std::numeric_limits<std::uint32_t>::max()));
  report.text = std::string(copy.called_by.substr(0, copy.called_by.find("_pt"))) + " copies " +
                base::counted(all, "byte") + " to the host, of which nobody has written " +
                (found.bytes == all ? "any" : std::to_string(found.bytes)) +
                "; the first is byte " + std::to_string(found.first - array->address) + " of " +
                exec::describe(*array);
  report.advice =
      "let a kernel write every element: does the grid reach the last one (n / 256 rounds down)? "
      "Or "
      "copy only what was written, or clear the array first with cudaMemset";
  if (!context.told_copies.insert(report.text).second) return;
  context.log.add_report(to_json(report));
  messages::print(messages::finding(report));
}

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
    reason = {base::counted(bytes, "byte") + (bytes == 1 ? " is" : " are") +
                  " asked for from byte " + std::to_string(offset) + " on, and the variable has " +
                  std::to_string(held),
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
