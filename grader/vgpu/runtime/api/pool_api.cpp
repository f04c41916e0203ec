// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Allocation in stream order, and pools. Memory is there as soon as it is asked for and gone as
/// soon as it is freed, in host order.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/misuse.hpp"
#include "grader/vgpu/runtime/device/operation_executor.hpp"

namespace membound::vgpu::runtime {
namespace {

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

CUDA_CALL cudaMallocAsync(void** out, std::size_t bytes, cudaStream_t stream) {
  return api_call(Waits::kNo, [&](Call call) {
    return allocate(call, out, bytes, call.context.pools.current(), stream);
  });
}

CUDA_CALL cudaMallocAsync_ptsz(void** out, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(out, bytes, per_thread(stream));
}

CUDA_CALL cudaMallocFromPoolAsync(void** out, std::size_t bytes, cudaMemPool_t pool,
                                  cudaStream_t stream) {
  return api_call(Waits::kNo, [&](Call call) { return allocate(call, out, bytes, pool, stream); });
}

CUDA_CALL cudaMallocFromPoolAsync_ptsz(void** out, std::size_t bytes, cudaMemPool_t pool,
                                       cudaStream_t stream) {
  return cudaMallocFromPoolAsync(out, bytes, pool, per_thread(stream));
}

CUDA_CALL cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return api_call(Waits::kNo, [&](Call call) { return release(call, pointer, stream); });
}

CUDA_CALL cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, per_thread(stream));
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
