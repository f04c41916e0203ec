// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory: allocations, copies and fills, in rows as well, and variables by their names.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "grader/sandbox/forward/runtime_state.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

/// What a cudaArray_t points to.
struct ForwardArray {
  int device;
  std::uint32_t number;
  std::size_t width, height;
};

ForwardArray& array_of(cudaArray_const_t handle) {
  return *const_cast<ForwardArray*>(reinterpret_cast<const ForwardArray*>(handle));
}

/// Whether the other end is a whole program, which has no textures; the first time it is told so.
bool is_refused(const char* name) {
  const Connection* runner = connection();
  if (runner == nullptr || runner->device().records_calls == 0) return false;
  static std::atomic<bool> was_said{false};
  if (!was_said.exchange(true))
    std::fprintf(stderr,
                 "membound: %s cannot be used here: program and device are two processes, and "
                 "arrays and textures are passed on for a lab's kernels alone.\n",
                 name);
  return true;
}

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// A copy between host and device, and why it cannot be part of a graph, where that was asked for.
std::int32_t explained(std::int32_t code) {
  static std::atomic<bool> was_said{false};
  if (code == cudaErrorStreamCaptureUnsupported && !was_said.exchange(true))
    std::fputs(
        "membound: a copy between host and device cannot be captured here: program and device "
        "are two processes. Copy before the capture, and after the graph's launch.\n",
        stderr);
  return code;
}

/// Where the virtual GPU and NVIDIA's begin each row (cudaDeviceProp::texturePitchAlignment is
/// less).
constexpr std::size_t kPitchBytes = 512;

std::byte* row(const void* start, std::size_t pitch, std::size_t index) {
  return static_cast<std::byte*>(const_cast<void*>(start)) + pitch * index;
}

/// Calls `body` with where `count` bytes of the variable begin, `offset` bytes after its start.
template <typename Body>
cudaError_t with_variable(const void* symbol, std::size_t count, std::size_t offset, Body body) {
  VariableAnswer variable;
  if (const std::int32_t code = find_variable(symbol, variable); code != 0) return remember(code);
  if (offset > variable.bytes || count > variable.bytes - offset)
    return remember(cudaErrorInvalidValue);
  return body(reinterpret_cast<void*>(variable.address + offset));
}

/// The rows one after the other, or at once where nothing lies between them.
template <typename Copy>
cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, Copy copy) {
  if (width > to_pitch || width > from_pitch) return remember(cudaErrorInvalidPitchValue);
  if (width == 0 || height == 0) return cudaSuccess;
  if (width == to_pitch && width == from_pitch) return copy(to, from, width * height);
  cudaError_t code = cudaSuccess;
  for (std::size_t i = 0; i < height && code == cudaSuccess; ++i)
    code = copy(row(to, to_pitch, i), row(from, from_pitch, i), width);
  return code;
}

template <typename Set>
cudaError_t set_rows(void* data, std::size_t pitch, std::size_t width, std::size_t height,
                     Set set) {
  return copy_rows(data, pitch, data, pitch, width, height,
                   [&](void* to, const void*, std::size_t bytes) { return set(to, bytes); });
}

}  // namespace

FORWARD_EXPORT cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner([&](Connection& runner) {
    AddressAnswer answer;
    const std::int32_t code = runner.call(Allocate{bytes}, &answer);
    if (code != 0) return code;
    *data = reinterpret_cast<void*>(answer.address);
    remember_device_memory(*data, bytes);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  return with_runner([&](Connection& runner) {
    const std::int32_t code = delivered(runner, runner.call(Free{number_of(data)}));
    if (code == 0) forget_device_memory(data);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    AddressAnswer answer;
    const std::int32_t code = runner.call(AllocateAsync{bytes, in}, &answer);
    if (code != 0) return code;
    *data = reinterpret_cast<void*>(answer.address);
    remember_device_memory(*data, bytes);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    const std::int32_t code = runner.call(FreeAsync{number_of(data), in});
    if (code == 0) forget_device_memory(data);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return with_runner([&](Connection& runner) {
    return runner.call(SetBytes{number_of(data), value, bytes});
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                      cudaMemcpyKind kind) {
  return with_runner([&](Connection& runner) -> std::int32_t {
    switch (direction_of(to, from, kind)) {
      case cudaMemcpyHostToDevice:
        return runner.upload(number_of(to), from, bytes);
      case cudaMemcpyDeviceToHost:
        return delivered(runner, runner.download(to, number_of(from), bytes));
      case cudaMemcpyHostToHost:
        std::memmove(to, from, bytes);
        return cudaSuccess;
      case cudaMemcpyDeviceToDevice:
        return runner.call(CopyOnDevice{number_of(to), number_of(from), bytes});
      default:
        return cudaErrorInvalidMemcpyDirection;
    }
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) -> std::int32_t {
    // A test program's only stream is the default one, and its copies may wait.
    if (runner.device().records_calls == 0) return cudaMemcpy(to, from, bytes, kind);
    switch (direction_of(to, from, kind)) {
      case cudaMemcpyHostToDevice:
        return explained(runner.copy_in(number_of(to), from, bytes, in, is_pinned(from, bytes)));
      case cudaMemcpyDeviceToHost:
        return explained(copy_to_host(runner, to, number_of(from), bytes, in));
      case cudaMemcpyDeviceToDevice:
        return runner.call(CopyOnDevice{number_of(to), number_of(from), bytes, in});
      case cudaMemcpyHostToHost:
        std::memmove(to, from, bytes);
        return cudaSuccess;
      default:
        return cudaErrorInvalidMemcpyDirection;
    }
  });
}

FORWARD_EXPORT cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes,
                                           cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    return runner.call(SetBytes{number_of(data), value, bytes, in});
  });
}

FORWARD_EXPORT cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned int) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  *data = allocate_pinned(bytes);
  return *data == nullptr ? remember(cudaErrorMemoryAllocation) : cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, 0);
}

FORWARD_EXPORT cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  // A copy into it may be under way.
  const cudaError_t code =
      with_runner([](Connection& runner) { return delivered(runner, runner.call(FreeOfHost{})); });
  if (!free_pinned(data)) return remember(cudaErrorInvalidValue);
  return code;
}

FORWARD_EXPORT cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned int) {
  if (data == nullptr || bytes == 0) return remember(cudaErrorInvalidValue);
  return pin(data, bytes) ? cudaSuccess : remember(cudaErrorHostMemoryAlreadyRegistered);
}

FORWARD_EXPORT cudaError_t cudaHostUnregister(void* data) {
  const cudaError_t code =
      with_runner([](Connection& runner) { return delivered(runner, runner.call(FreeOfHost{})); });
  return unpin(data) ? code : remember(cudaErrorHostMemoryNotRegistered);
}

FORWARD_EXPORT cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return with_runner([&](Connection& runner) {
    MemoryAnswer answer;
    const std::int32_t code = runner.call(AskMemory{}, &answer);
    if (free_bytes != nullptr) *free_bytes = answer.free_bytes;
    if (total_bytes != nullptr) *total_bytes = answer.total_bytes;
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaGetSymbolAddress(void** data, const void* symbol) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  return with_variable(symbol, 0, 0, [&](void* start) {
    *data = start;
    return cudaSuccess;
  });
}

FORWARD_EXPORT cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  VariableAnswer variable;
  if (bytes == nullptr) return remember(cudaErrorInvalidValue);
  const std::int32_t code = find_variable(symbol, variable);
  if (code == 0) *bytes = variable.bytes;
  return remember(code);
}

FORWARD_EXPORT cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from,
                                              std::size_t count, std::size_t offset,
                                              cudaMemcpyKind kind) {
  return with_variable(symbol, count, offset,
                       [&](void* to) { return cudaMemcpy(to, from, count, kind); });
}

FORWARD_EXPORT cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t count,
                                                std::size_t offset, cudaMemcpyKind kind) {
  return with_variable(symbol, count, offset,
                       [&](void* from) { return cudaMemcpy(to, from, count, kind); });
}

FORWARD_EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                                   std::size_t count, std::size_t offset,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return with_variable(symbol, count, offset,
                       [&](void* to) { return cudaMemcpyAsync(to, from, count, kind, stream); });
}

FORWARD_EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol,
                                                     std::size_t count, std::size_t offset,
                                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return with_variable(symbol, count, offset,
                       [&](void* from) { return cudaMemcpyAsync(to, from, count, kind, stream); });
}

FORWARD_EXPORT cudaError_t cudaMallocPitch(void** data, std::size_t* pitch, std::size_t width,
                                           std::size_t height) {
  if (data == nullptr || pitch == nullptr || width > SIZE_MAX - kPitchBytes)
    return remember(cudaErrorInvalidValue);
  *pitch = (width + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  if (height != 0 && *pitch > SIZE_MAX / height) return remember(cudaErrorMemoryAllocation);
  return cudaMalloc(data, *pitch * height);
}

FORWARD_EXPORT cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                        std::size_t from_pitch, std::size_t width,
                                        std::size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height,
                   [&](void* row_to, const void* row_from, std::size_t bytes) {
                     return cudaMemcpy(row_to, row_from, bytes, kind);
                   });
}

FORWARD_EXPORT cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                             std::size_t from_pitch, std::size_t width,
                                             std::size_t height, cudaMemcpyKind kind,
                                             cudaStream_t stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height,
                   [&](void* row_to, const void* row_from, std::size_t bytes) {
                     return cudaMemcpyAsync(row_to, row_from, bytes, kind, stream);
                   });
}

FORWARD_EXPORT cudaError_t cudaMemset2D(void* data, std::size_t pitch, int value, std::size_t width,
                                        std::size_t height) {
  return set_rows(data, pitch, width, height,
                  [&](void* start, std::size_t bytes) { return cudaMemset(start, value, bytes); });
}

FORWARD_EXPORT cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value,
                                             std::size_t width, std::size_t height,
                                             cudaStream_t stream) {
  return set_rows(data, pitch, width, height, [&](void* start, std::size_t bytes) {
    return cudaMemsetAsync(start, value, bytes, stream);
  });
}

// Pictures that a lab's test program makes for kernels: arrays of floats in two dimensions, filled
// whole from the device, and textures of them as CreateTexture says. Nothing else is passed on.

FORWARD_EXPORT cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* format,
                                           std::size_t width, std::size_t height,
                                           unsigned int flags) {
  if (is_refused("cudaMallocArray")) return remember(cudaErrorNotSupported);
  if (out == nullptr || format == nullptr) return remember(cudaErrorInvalidValue);
  const bool is_float = format->x == 32 && format->y == 0 && format->z == 0 && format->w == 0 &&
                        format->f == cudaChannelFormatKindFloat;
  if (!is_float || flags != 0) return remember(cudaErrorNotSupported);
  return with_runner([&](Connection& runner) {
    ArrayAnswer answer;
    const std::int32_t code = runner.call(AllocateArray{width, height}, &answer);
    if (code != 0) return code;
    *out = reinterpret_cast<cudaArray_t>(
        new ForwardArray{current_device(), answer.array, width, height});
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFreeArray(cudaArray_t handle) {
  if (handle == nullptr) return cudaSuccess;
  const ForwardArray array = array_of(handle);
  delete &array_of(handle);
  return with_runner(array.device,
                     [&](Connection& runner) { return runner.call(FreeArray{array.number}); });
}

FORWARD_EXPORT cudaError_t cudaMemcpy2DToArray(cudaArray_t handle, std::size_t x, std::size_t y,
                                               const void* from, std::size_t pitch,
                                               std::size_t width, std::size_t height,
                                               cudaMemcpyKind kind) {
  if (handle == nullptr || from == nullptr) return remember(cudaErrorInvalidValue);
  const ForwardArray& array = array_of(handle);
  const std::size_t row_bytes = array.width * sizeof(float);
  const bool is_whole =
      x == 0 && y == 0 && pitch == row_bytes && width == row_bytes && height == array.height;
  if (!is_whole || kind != cudaMemcpyDeviceToDevice) return remember(cudaErrorNotSupported);
  return with_runner(array.device, [&](Connection& runner) {
    return runner.call(FillArray{array.number, number_of(from)});
  });
}

FORWARD_EXPORT cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out,
                                                   const cudaResourceDesc* resource,
                                                   const cudaTextureDesc* how,
                                                   const cudaResourceViewDesc* view) {
  if (is_refused("cudaCreateTextureObject")) return remember(cudaErrorNotSupported);
  if (out == nullptr || resource == nullptr || how == nullptr)
    return remember(cudaErrorInvalidValue);
  const bool is_known = view == nullptr && resource->resType == cudaResourceTypeArray &&
                        how->addressMode[0] == cudaAddressModeClamp &&
                        how->addressMode[1] == cudaAddressModeClamp &&
                        how->filterMode == cudaFilterModePoint &&
                        how->readMode == cudaReadModeElementType && how->normalizedCoords == 0;
  if (!is_known) return remember(cudaErrorNotSupported);
  const ForwardArray& array = array_of(resource->res.array.array);
  return with_runner(array.device, [&](Connection& runner) {
    TextureAnswer answer;
    const std::int32_t code = runner.call(CreateTexture{array.number}, &answer);
    *out = answer.handle;
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return with_runner([&](Connection& runner) { return runner.call(DestroyTexture{handle}); });
}
