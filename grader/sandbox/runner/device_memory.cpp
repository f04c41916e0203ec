// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/device_memory.hpp"

#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

constexpr std::uint64_t kShareOfAll = 4;

cudaError_t free_overwritten(const MemoryPiece& piece) {
  auto* const data = reinterpret_cast<void*>(piece.address);
  // Whoever gets these pages next, in whichever process, finds nothing in them.
  if (virtual_gpu_name().empty())
    if (const cudaError_t code = cudaMemset(data, 0, piece.bytes); code != cudaSuccess) return code;
  return cudaFree(data);
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const MemoryPiece& piece : kept_.take_all())
    static_cast<void>(cudaFree(reinterpret_cast<void*>(piece.address)));
}

std::uint64_t DeviceMemory::usual_kept_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (!virtual_gpu_name().empty() || cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
    return 0;
  return total_bytes / kShareOfAll;
}

cudaError_t DeviceMemory::allocate(std::uint64_t bytes, void*& data) {
  MemoryPiece piece{0, bytes};
  if (const auto kept = kept_.take(bytes)) {
    piece = *kept;
    data = reinterpret_cast<void*>(piece.address);
  } else {
    cudaError_t code = cudaMalloc(&data, bytes);
    if (code == cudaErrorMemoryAllocation && kept_.bytes() > 0) {
      static_cast<void>(cudaGetLastError());
      free_all_kept();
      code = cudaMalloc(&data, bytes);
    }
    if (code != cudaSuccess) return code;
    piece.address = reinterpret_cast<std::uintptr_t>(data);
  }
  if (data != nullptr) whole_bytes_[piece.address] = piece.bytes;
  return cudaSuccess;
}

cudaError_t DeviceMemory::free(void* data, std::uint64_t bytes) {
  MemoryPiece piece{reinterpret_cast<std::uintptr_t>(data), bytes};
  // Not there: of a stream's own pool.
  if (const auto found = whole_bytes_.find(piece.address); found != whole_bytes_.end()) {
    piece.bytes = found->second;
    whole_bytes_.erase(found);
  }
  const auto freed = kept_.keep(piece);
  if (freed.empty()) return cudaDeviceSynchronize();
  cudaError_t first = cudaSuccess;
  for (const MemoryPiece& one : freed)
    if (const cudaError_t code = free_overwritten(one); first == cudaSuccess) first = code;
  return first;
}

void DeviceMemory::free_all_kept() {
  for (const MemoryPiece& piece : kept_.take_all()) static_cast<void>(free_overwritten(piece));
}

}  // namespace membound::runner
