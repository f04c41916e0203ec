// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Getting and giving back memory: device, pitched, pinned, managed, in stream order and from
/// pools; and what a pointer is. Memory of a stream is there as soon as it is asked for and gone as
/// soon as it is freed, in host order.
#include <sys/mman.h>

#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/data_movement.hpp"
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

constexpr int kPinnedMemory = 1;  // cudaMemAllocationTypePinned

cudaError_t allocate(Call call, void** out, std::size_t bytes, cudaMemPool_t pool,
                     cudaStream_t stream) {
  Context& only = call.context;
  Stream* target = call.stream(stream);
  if (target == nullptr) return cudaErrorInvalidResourceHandle;
  if (out == nullptr || only.pools.find(pool) == nullptr) return cudaErrorInvalidValue;
  if (bytes == 0) {
    *out = nullptr;
    return cudaSuccess;
  }
  const auto address =
      only.memory.allocate(bytes, 256, {memory::AllocationKind::kMalloc, "cudaMallocAsync", false});
  if (!address) return cudaErrorMemoryAllocation;
  only.pools.note_allocation(pool, *address, bytes);
  *out = reinterpret_cast<void*>(*address);
  return submit(only, call.lock, *target, AllocateOperation{*address, bytes}).code;
}

cudaError_t release(Call call, void* pointer, cudaStream_t stream) {
  Context& only = call.context;
  Stream* target = call.stream(stream);
  if (target == nullptr) return cudaErrorInvalidResourceHandle;
  if (pointer == nullptr) return cudaSuccess;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const auto found = only.memory.find(address);
  if (!found || found->address != address || found->info.kind != memory::AllocationKind::kMalloc) {
    tell_of_refused_free(only, "cudaFreeAsync", pointer, false);
    return cudaErrorInvalidValue;
  }
  const Submitted done = submit(only, call.lock, *target, FreeOperation{address});
  // A captured free happens in the graph, which may be launched again: the memory stays.
  if (done.code != cudaSuccess || done.captured) return done.code;
  only.pools.note_free(address);
  only.memory.free(address);
  return cudaSuccess;
}

std::uint64_t* wide_attribute(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.release_threshold;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used_bytes;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.used_high_bytes;
    default:
      return nullptr;
  }
}

int* switch_attribute(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
      return &pool.follow_event_dependencies;
    case cudaMemPoolReuseAllowOpportunistic:
      return &pool.allow_opportunistic;
    case cudaMemPoolReuseAllowInternalDependencies:
      return &pool.allow_internal_dependencies;
    default:
      return nullptr;
  }
}

template <typename Body>
cudaError_t with_pool(cudaMemPool_t handle, Body body) {
  return api_call(Waits::kNo, [&](Call call) -> cudaError_t {
    CUmemPoolHandle_st* pool = call.context.pools.find(handle);
    return pool ? body(*pool) : cudaErrorInvalidValue;
  });
}

cudaError_t get_pool(cudaMemPool_t* out, int device, bool current) {
  return api_call(Waits::kNo, [&](Call call) {
    if (device != 0) return cudaErrorInvalidDevice;
    if (out == nullptr) return cudaErrorInvalidValue;
    PoolTable& pools = call.context.pools;
    *out = current ? pools.current() : pools.default_pool();
    return cudaSuccess;
  });
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
namespace {

/// Of cudaMallocManaged(), or a __managed__ variable.
bool is_managed(Call& call, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (const auto* host = call.context.find_host_memory(address)) return host->second.is_managed;
  const auto variable = call.context.memory.find(address);
  return variable &&
         variable->info.kind == membound::vgpu::memory::AllocationKind::kManagedVariable;
}

}  // namespace

CUDA_STREAM_CALL(cudaMemPrefetchAsync,
                 (const void* pointer, [[maybe_unused]] std::size_t bytes,
                  [[maybe_unused]] cudaMemLocation location, [[maybe_unused]] unsigned int flags,
                  cudaStream_t stream),
                 (pointer, bytes, location, flags, stream)) {
  return api_call(Waits::kNo, [&](Call call) {
    if (call.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return is_managed(call, pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMemAdvise(const void* pointer, std::size_t, int advice, cudaMemLocation) {
  return api_call(Waits::kNo, [&](Call call) {
    const bool known = advice >= 1 && advice <= 6;
    return known && is_managed(call, pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_STREAM_CALL(cudaStreamAttachMemAsync,
                 (cudaStream_t stream, [[maybe_unused]] void* pointer,
                  [[maybe_unused]] std::size_t bytes, [[maybe_unused]] unsigned int flags),
                 (stream, pointer, bytes, flags)) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

CUDA_STREAM_CALL(cudaMallocAsync, (void** out, std::size_t bytes, cudaStream_t stream),
                 (out, bytes, stream)) {
  return api_call(Waits::kNo, [&](Call call) {
    return allocate(call, out, bytes, call.context.pools.current(), stream);
  });
}

CUDA_STREAM_CALL(cudaMallocFromPoolAsync,
                 (void** out, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
                 (out, bytes, pool, stream)) {
  return api_call(Waits::kNo, [&](Call call) { return allocate(call, out, bytes, pool, stream); });
}

CUDA_STREAM_CALL(cudaFreeAsync, (void* pointer, cudaStream_t stream), (pointer, stream)) {
  return api_call(Waits::kNo, [&](Call call) { return release(call, pointer, stream); });
}

CUDA_CALL cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return get_pool(out, device, false);
}

CUDA_CALL cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return get_pool(out, device, true);
}

CUDA_CALL cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return api_call(Waits::kNo, [&](Call call) {
    if (device != 0) return cudaErrorInvalidDevice;
    return call.context.pools.set_current(pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* properties) {
  return api_call(Waits::kNo, [&](Call call) {
    if (out == nullptr || properties == nullptr || properties->allocType != kPinnedMemory)
      return cudaErrorInvalidValue;
    if (properties->handleTypes != 0) return cudaErrorNotSupported;  // sharing between processes
    *out = call.context.pools.create();
    return cudaSuccess;
  });
}

CUDA_CALL cudaMemPoolDestroy(cudaMemPool_t pool) {
  return api_call(Waits::kNo, [&](Call call) {
    return call.context.pools.destroy(pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

CUDA_CALL cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  return with_pool(pool, [](CUmemPoolHandle_st&) { return cudaSuccess; });
}

CUDA_CALL cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (int* flag = switch_attribute(p, attribute)) {
      *flag = *static_cast<int*>(value);
      return cudaSuccess;
    }
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
      p.release_threshold = *static_cast<std::uint64_t*>(value);
      return cudaSuccess;
    }
    const bool high_mark =
        attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (!high_mark || *static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    p.used_high_bytes = p.used_bytes;
    return cudaSuccess;
  });
}

CUDA_CALL cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return with_pool(pool, [&](CUmemPoolHandle_st& p) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const int* flag = switch_attribute(p, attribute)) {
      *static_cast<int*>(value) = *flag;
      return cudaSuccess;
    }
    const std::uint64_t* wide = wide_attribute(p, attribute);
    if (wide == nullptr) return cudaErrorInvalidValue;
    *static_cast<std::uint64_t*>(value) = *wide;
    return cudaSuccess;
  });
}

CUDA_CALL cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc*, std::size_t) {
  return with_pool(pool, [](CUmemPoolHandle_st&) { return cudaSuccess; });
}

CUDA_CALL cudaMemPoolGetAccess(int* flags, cudaMemPool_t pool, cudaMemLocation*) {
  return with_pool(pool, [&](CUmemPoolHandle_st&) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = 3;  // read and write
    return cudaSuccess;
  });
}
