// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Getting and giving back memory: device, pitched, pinned, managed; and what a pointer is.
#include <sys/mman.h>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
#include "grader/vgpu/runtime/device/finish.hpp"
#include "grader/vgpu/runtime/device/misuse.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr std::uint64_t kAllocationAlignment = 256;  // what programs may rely on
constexpr std::size_t kPitchAlignment = 512;         // as the runtime pads rows
constexpr unsigned int kKnownHostFlags = 0x0f;       // portable, mapped, write-combined, …

cudaError_t allocate(Context& only, void** out, std::size_t bytes, const char* made_by,
                     std::size_t row_multiple = 0) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *out = nullptr;
    return cudaSuccess;
  }
  const auto address = only.memory.allocate(
      bytes, kAllocationAlignment, {memory::AllocationKind::kMalloc, made_by, false, row_multiple});
  if (!address) return cudaErrorMemoryAllocation;
  *out = reinterpret_cast<void*>(*address);
  only.clock.host_works(kQueryNs);
  return cudaSuccess;
}

/// Host memory the device reaches under the same address.
cudaError_t allocate_shared(Context& only, void** out, std::size_t bytes, unsigned int flags,
                            bool managed, const char* made_by) {
  if (out == nullptr) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *out = nullptr;
    return managed ? cudaErrorInvalidValue : cudaSuccess;
  }
  const std::size_t mapped = only.memory.host_array_bytes(bytes);
  if (mapped < bytes) return cudaErrorMemoryAllocation;
  void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return cudaErrorMemoryAllocation;
  const auto kind = managed ? memory::AllocationKind::kManaged : memory::AllocationKind::kHost;
  only.memory.register_host_range(memory, bytes, {kind, made_by}, mapped - bytes);
  only.host_memory[reinterpret_cast<std::uint64_t>(memory)] = {bytes, flags, managed, false,
                                                               mapped};
  *out = memory;
  return cudaSuccess;
}

/// The program's own memory: a GPU maps the pages that it lies in.
void register_own_memory(Context& only, void* pointer, std::size_t bytes, unsigned int flags) {
  constexpr std::uint64_t kPageBytes = memory::AddressSpace::kPageBytes;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::uint64_t end = address + bytes;
  only.memory.register_host_range(pointer, bytes,
                                  {memory::AllocationKind::kHost, "cudaHostRegister"},
                                  (end + kPageBytes - 1) / kPageBytes * kPageBytes - end);
  only.host_memory[address] = {bytes, flags, false, true, 0};
}

/// Frees host memory that starts at `pointer`; false when there is none.
bool free_shared(Context& only, void* pointer) {
  const auto found = only.host_memory.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found == only.host_memory.end() || found->second.is_registered) return false;
  only.host_watch.open();
  only.memory.unregister_host_range(pointer);
  release_host_memory(found->first, found->second);
  only.host_memory.erase(found);
  return true;
}

cudaError_t free_any(Context& only, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  wait_for_all(only);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const auto found = only.memory.find(address);
  if (found && found->address == address && found->info.kind == memory::AllocationKind::kMalloc) {
    only.pools.note_free(address);
    return only.memory.free(address) ? cudaSuccess : cudaErrorInvalidValue;
  }
  const auto host = only.host_memory.find(address);
  if (host != only.host_memory.end() && host->second.is_managed && free_shared(only, pointer))
    return cudaSuccess;
  tell_of_refused_free(only, "cudaFree", pointer, false);
  return cudaErrorInvalidValue;
}

cudaError_t allocate_rows(Context& only, void** out, std::size_t* pitch, std::size_t width,
                          std::size_t rows) {
  if (out == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  return allocate(only, out, *pitch * rows, "cudaMallocPitch", kPitchAlignment);
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaMalloc(void** out, std::size_t bytes) {
  return api_call(Waits::kNo,
                  [&](Call call) { return allocate(call.context, out, bytes, "cudaMalloc"); });
}

CUDA_CALL cudaFree(void* pointer) {
  return api_call(Waits::kYes, [&](Call call) { return free_any(call.context, pointer); });
}

CUDA_CALL cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  return api_call(Waits::kNo, [&](Call call) {
    return allocate_rows(call.context, out, pitch, width, height);
  });
}

CUDA_CALL cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr) return cudaErrorInvalidValue;
    const cudaError_t code = allocate_rows(call.context, &out->ptr, &out->pitch, extent.width,
                                           extent.height * extent.depth);
    out->xsize = extent.width;
    out->ysize = extent.height;
    return code;
  });
}

CUDA_CALL cudaHostAlloc(void** out, std::size_t bytes, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if ((flags & ~kKnownHostFlags) != 0) return cudaErrorInvalidValue;
    // The toolkit's header makes this call of a cudaMallocHost without flags, too.
    return allocate_shared(call.context, out, bytes, flags, false,
                           flags == 0 ? "cudaMallocHost" : "cudaHostAlloc");
  });
}

CUDA_CALL cudaMallocHost(void** out, std::size_t bytes) {
  return api_call(Waits::kNo, [&](Call call) {
    return allocate_shared(call.context, out, bytes, 0, false, "cudaMallocHost");
  });
}

CUDA_CALL cudaFreeHost(void* pointer) {
  return api_call(Waits::kYes, [&](Call call) {
    if (pointer == nullptr) return cudaSuccess;
    wait_for_all(call.context);
    const auto found = call.context.host_memory.find(reinterpret_cast<std::uint64_t>(pointer));
    const bool pinned = found != call.context.host_memory.end() && !found->second.is_managed;
    if (pinned && free_shared(call.context, pointer)) return cudaSuccess;
    tell_of_refused_free(call.context, "cudaFreeHost", pointer, true);
    return cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMallocManaged(void** out, std::size_t bytes, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    if (flags != 1 && flags != 2) return cudaErrorInvalidValue;  // global or host attachment
    return allocate_shared(call.context, out, bytes, flags, true, "cudaMallocManaged");
  });
}

CUDA_CALL cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return api_call(Waits::kNo, [&](Call call) {
    Context& only = call.context;
    if (pointer == nullptr || bytes == 0 || (flags & ~kKnownHostFlags) != 0)
      return cudaErrorInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto after = only.host_memory.lower_bound(address);
    const bool meets_next = after != only.host_memory.end() && after->first < address + bytes;
    if (only.find_host_memory(address) != nullptr || meets_next)
      return cudaErrorHostMemoryAlreadyRegistered;
    register_own_memory(only, pointer, bytes, flags);
    return cudaSuccess;
  });
}

CUDA_CALL cudaHostUnregister(void* pointer) {
  return api_call(Waits::kYes, [&](Call call) {
    Context& only = call.context;
    const auto found = only.host_memory.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == only.host_memory.end() || !found->second.is_registered)
      return cudaErrorHostMemoryNotRegistered;
    only.host_watch.open();
    only.memory.unregister_host_range(pointer);
    only.host_memory.erase(found);
    return cudaSuccess;
  });
}

CUDA_CALL cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
  return api_call(Waits::kNo, [&](Call call) {
    if (device == nullptr ||
        call.context.find_host_memory(reinterpret_cast<std::uint64_t>(host)) == nullptr)
      return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
  });
}

CUDA_CALL cudaHostGetFlags(unsigned int* flags, void* host) {
  return api_call(Waits::kNo, [&](Call call) {
    const auto* found = call.context.find_host_memory(reinterpret_cast<std::uint64_t>(host));
    if (flags == nullptr || found == nullptr) return cudaErrorInvalidValue;
    *flags = found->second.flags | 2;  // everything is mapped under unified addressing
    return cudaSuccess;
  });
}

CUDA_CALL cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return api_call(Waits::kNo, [&](Call call) {
    if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
    *total_bytes = call.context.memory.capacity_bytes();
    *free_bytes = *total_bytes - call.context.memory.used_bytes();
    return cudaSuccess;
  });
}

CUDA_CALL cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr) return cudaErrorInvalidValue;
    void* address = const_cast<void*>(pointer);
    *out = {cudaMemoryTypeUnregistered, -2, nullptr, address, {}};
    if (is_device_pointer(call.context, pointer) &&
        call.context.memory.find(reinterpret_cast<std::uint64_t>(pointer))) {
      *out = {cudaMemoryTypeDevice, 0, address, nullptr, {}};
    } else if (const auto* host =
                   call.context.find_host_memory(reinterpret_cast<std::uint64_t>(pointer))) {
      const auto type = host->second.is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
      *out = {type, 0, address, address, {}};
    } else if (const auto variable =
                   call.context.memory.find(reinterpret_cast<std::uint64_t>(pointer));
               variable &&
               variable->info.kind == membound::vgpu::memory::AllocationKind::kManagedVariable) {
      *out = {cudaMemoryTypeManaged, 0, address, address, {}};
    }
    return cudaSuccess;
  });
}

// Hints about managed memory: they change where pages lie, which the virtual GPU has no notion of.

CUDA_CALL cudaMemPrefetchAsync(const void* pointer, std::size_t, cudaMemLocation, unsigned int,
                               cudaStream_t stream) {
  return api_call(Waits::kNo, [&](Call call) {
    if (call.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    const auto* host = call.context.find_host_memory(reinterpret_cast<std::uint64_t>(pointer));
    return host && host->second.is_managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes,
                                    cudaMemLocation location, unsigned int flags,
                                    cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location, flags, per_thread(stream));
}

CUDA_CALL cudaMemAdvise(const void* pointer, std::size_t, int advice, cudaMemLocation) {
  return api_call(Waits::kNo, [&](Call call) {
    const auto* host = call.context.find_host_memory(reinterpret_cast<std::uint64_t>(pointer));
    const bool known = advice >= 1 && advice <= 6;
    return known && host && host->second.is_managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaStreamAttachMemAsync(cudaStream_t stream, void*, std::size_t, unsigned int) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUDA_CALL cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, std::size_t bytes,
                                        unsigned int flags) {
  return cudaStreamAttachMemAsync(per_thread(stream), pointer, bytes, flags);
}
