// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/data_movement.hpp"

#include <algorithm>
#include <cstring>

#include "grader/vgpu/runtime/device/unwritten_copies.hpp"

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

}  // namespace membound::vgpu::runtime
