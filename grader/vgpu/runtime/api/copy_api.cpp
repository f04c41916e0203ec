// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// cudaMemcpy and cudaMemset over plain memory, in their synchronous, asynchronous, 2D, 3D and
/// symbol spellings. Copies of arrays are in texture_api.cpp.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/modules.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

CopyOperation rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t height) {
  CopyOperation copy;
  copy.to = {reinterpret_cast<std::uint64_t>(to), to_pitch, 0, false};
  copy.from = {reinterpret_cast<std::uint64_t>(from), from_pitch, 0, false};
  copy.width_bytes = width;
  copy.height = height;
  return copy;
}

/// The entry point that calls a function with this as its last, default argument.
#define CALLED_BY const char* entry_point = __builtin_FUNCTION()

/// Checks with `make`, then hands the copy to the stream; waits unless `asynchronous`.
template <typename Make>
cudaError_t copy_call(cudaStream_t stream, bool asynchronous, const char* entry_point,
                      cudaMemcpyKind kind, Make make) {
  return api_call(asynchronous ? Waits::kNo : Waits::kYes, [&](Call call) -> cudaError_t {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    CopyOperation copy;
    if (const cudaError_t code = make(call.context, copy); code != cudaSuccess) {
      tell_of_refused_copy(call.context, entry_point, copy, kind);
      return code;
    }
    copy.called_by = entry_point;
    tell_of_overlap(call.context, entry_point, copy);
    if (!asynchronous) return submit_and_wait(call.context, call.lock, *target, copy);
    const bool blocks = copy_blocks_host(call.context, copy);
    const Submitted done = submit(call.context, call.lock, *target, copy);
    if (blocks && !done.captured) {
      call.context.clock.host_waits_until(target->timeline.ready_ns);
      call.context.stream_races.host_learns(target->past);
    }
    return done.code;
  });
}

cudaError_t copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       cudaStream_t stream, bool asynchronous, CALLED_BY) {
  return copy_call(stream, asynchronous, entry_point, kind,
                   [&](Context& only, CopyOperation& copy) {
                     return make_copy(only, copy, to, from, bytes, kind);
                   });
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind,
                      cudaStream_t stream, bool asynchronous, CALLED_BY) {
  return copy_call(stream, asynchronous, entry_point, kind,
                   [&](Context& only, CopyOperation& copy) {
                     copy = rows(to, to_pitch, from, from_pitch, width, height);
                     if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
                     return check_copy(only, copy, kind);
                   });
}

cudaError_t copy_box(const cudaMemcpy3DParms* parameters, cudaStream_t stream, bool asynchronous,
                     CALLED_BY) {
  const cudaMemcpyKind kind = parameters ? parameters->kind : cudaMemcpyDefault;
  return copy_call(
      stream, asynchronous, entry_point, kind, [&](Context& only, CopyOperation& copy) {
        return parameters ? make_copy_3d(only, copy, *parameters) : cudaErrorInvalidValue;
      });
}

/// As copy_call(); `make` gets the address in the symbol too.
template <typename Make>
cudaError_t symbol_copy_call(const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaStream_t stream, bool asynchronous, const char* entry_point,
                             cudaMemcpyKind kind, Make make) {
  return copy_call(stream, asynchronous, entry_point, kind,
                   [&](Context& only, CopyOperation& copy) {
                     std::uint64_t address = 0;
                     const cudaError_t code = symbol_range(only, symbol, offset, bytes, address);
                     if (code != cudaSuccess) {
                       tell_of_refused_symbol(only, entry_point, symbol, offset, bytes);
                       return code;
                     }
                     return make(only, copy, reinterpret_cast<void*>(address));
                   });
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                           bool asynchronous, CALLED_BY) {
  return symbol_copy_call(symbol, bytes, offset, stream, asynchronous, entry_point, kind,
                          [&](Context& only, CopyOperation& copy, void* in_symbol) {
                            return make_copy(only, copy, in_symbol, from, bytes, kind);
                          });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream, bool asynchronous,
                             CALLED_BY) {
  return symbol_copy_call(symbol, bytes, offset, stream, asynchronous, entry_point, kind,
                          [&](Context& only, CopyOperation& copy, void* in_symbol) {
                            return make_copy(only, copy, to, in_symbol, bytes, kind);
                          });
}

/// Fills of device memory do not wait for it; cudaMemset is asynchronous too, but for memory of the
/// host (CUDA Runtime API, "API synchronization behavior").
cudaError_t fill_call(FillOperation fill, cudaStream_t stream, CALLED_BY) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    Stream* target = call.stream(stream);
    if (target == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t code = check_fill(call.context, fill); code != cudaSuccess) {
      tell_of_refused_fill(call.context, entry_point, fill);
      return code;
    }
    const Submitted done = submit(call.context, call.lock, *target, fill);
    const bool waits = std::string_view(entry_point).find("Async") == std::string_view::npos;
    if (waits && !fill.on_device && !done.captured)
      call.context.stream_races.host_learns(target->past);
    return done.code;
  });
}

FillOperation bytes_at(void* pointer, int value, std::size_t width) {
  FillOperation fill;
  fill.address = reinterpret_cast<std::uint64_t>(pointer);
  fill.value = static_cast<std::uint32_t>(value);
  fill.width = width;
  return fill;
}

FillOperation rows_at(void* pointer, std::size_t pitch, int value, std::size_t width,
                      std::size_t height) {
  FillOperation fill = bytes_at(pointer, value, width);
  fill.pitch_bytes = pitch;
  fill.height = height;
  return fill;
}

FillOperation box_at(const cudaPitchedPtr& pointer, int value, const cudaExtent& extent) {
  FillOperation fill = rows_at(pointer.ptr, pointer.pitch, value, extent.width, extent.height);
  fill.slice_bytes = pointer.pitch * pointer.ysize;
  fill.depth = extent.depth;
  return fill;
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_DEFAULT_STREAM_CALL(cudaMemcpy,
                         (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind),
                         copy_bytes(to, from, bytes, kind, stream, false))
CUDA_STREAM_CALL(cudaMemcpyAsync,
                 (void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                  cudaStream_t stream),
                 (to, from, bytes, kind, stream)) {
  return copy_bytes(to, from, bytes, kind, stream, true);
}
CUDA_CALL cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                         std::size_t bytes) {
  if (to_device != 0 || from_device != 0) return remember_error(cudaErrorInvalidDevice);
  return copy_bytes(to, from, bytes, cudaMemcpyDefault, nullptr, false);
}
CUDA_CALL cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                              std::size_t bytes, cudaStream_t stream) {
  if (to_device != 0 || from_device != 0) return remember_error(cudaErrorInvalidDevice);
  return copy_bytes(to, from, bytes, cudaMemcpyDefault, stream, true);
}

CUDA_DEFAULT_STREAM_CALL(cudaMemcpy2D,
                         (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind),
                         copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream,
                                   false))
CUDA_STREAM_CALL(cudaMemcpy2DAsync,
                 (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                 (to, to_pitch, from, from_pitch, width, height, kind, stream)) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, true);
}
CUDA_DEFAULT_STREAM_CALL(cudaMemcpy3D, (const cudaMemcpy3DParms* p), copy_box(p, stream, false))
CUDA_STREAM_CALL(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t stream),
                 (p, stream)) {
  return copy_box(p, stream, true);
}
CUDA_DEFAULT_STREAM_CALL(cudaMemcpyToSymbol,
                         (const void* symbol, const void* from, std::size_t bytes,
                          std::size_t offset, cudaMemcpyKind kind),
                         copy_to_symbol(symbol, from, bytes, offset, kind, stream, false))
CUDA_STREAM_CALL(cudaMemcpyToSymbolAsync,
                 (const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                  cudaMemcpyKind kind, cudaStream_t stream),
                 (symbol, from, bytes, offset, kind, stream)) {
  return copy_to_symbol(symbol, from, bytes, offset, kind, stream, true);
}
CUDA_DEFAULT_STREAM_CALL(cudaMemcpyFromSymbol,
                         (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                          cudaMemcpyKind kind),
                         copy_from_symbol(to, symbol, bytes, offset, kind, stream, false))
CUDA_STREAM_CALL(cudaMemcpyFromSymbolAsync,
                 (void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                  cudaMemcpyKind kind, cudaStream_t stream),
                 (to, symbol, bytes, offset, kind, stream)) {
  return copy_from_symbol(to, symbol, bytes, offset, kind, stream, true);
}
CUDA_CALL cudaGetSymbolAddress(void** address, const void* symbol) {
  return api_call(Waits::kNo, [&](Call call) {
    std::uint64_t found = 0;
    if (address == nullptr) return cudaErrorInvalidValue;
    const cudaError_t code = symbol_range(call.context, symbol, 0, 0, found);
    *address = reinterpret_cast<void*>(found);
    return code;
  });
}
CUDA_CALL cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return api_call(Waits::kNo, [&](Call call) {
    return bytes ? symbol_size(call.context, symbol, *bytes) : cudaErrorInvalidValue;
  });
}

CUDA_DEFAULT_STREAM_CALL(cudaMemset, (void* pointer, int value, std::size_t bytes),
                         fill_call(bytes_at(pointer, value, bytes), stream))
CUDA_STREAM_CALL(cudaMemsetAsync,
                 (void* pointer, int value, std::size_t bytes, cudaStream_t stream),
                 (pointer, value, bytes, stream)) {
  return fill_call(bytes_at(pointer, value, bytes), stream);
}
CUDA_DEFAULT_STREAM_CALL(cudaMemset2D,
                         (void* pointer, std::size_t pitch, int value, std::size_t width,
                          std::size_t height),
                         fill_call(rows_at(pointer, pitch, value, width, height), stream))
CUDA_STREAM_CALL(cudaMemset2DAsync,
                 (void* pointer, std::size_t pitch, int value, std::size_t width,
                  std::size_t height, cudaStream_t stream),
                 (pointer, pitch, value, width, height, stream)) {
  return fill_call(rows_at(pointer, pitch, value, width, height), stream);
}
CUDA_DEFAULT_STREAM_CALL(cudaMemset3D, (cudaPitchedPtr pointer, int value, cudaExtent extent),
                         fill_call(box_at(pointer, value, extent), stream))
CUDA_STREAM_CALL(cudaMemset3DAsync,
                 (cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream),
                 (pointer, value, extent, stream)) {
  return fill_call(box_at(pointer, value, extent), stream);
}
