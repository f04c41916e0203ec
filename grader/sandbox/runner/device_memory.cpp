// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/device_memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

bool is_smaller(const MemoryRange& one, const MemoryRange& other) {
  return one.bytes < other.bytes;
}

}  // namespace

std::optional<MemoryRange> KeptMemory::take(std::uint64_t bytes) {
  if (bytes < kLeastBytes) return std::nullopt;
  const auto found =
      std::lower_bound(ranges_.begin(), ranges_.end(), MemoryRange{0, bytes}, is_smaller);
  if (found == ranges_.end() || found->bytes / 2 > bytes) return std::nullopt;
  const MemoryRange range = *found;
  ranges_.erase(found);
  bytes_ -= range.bytes;
  return range;
}

std::vector<MemoryRange> KeptMemory::keep(MemoryRange range) {
  if (range.bytes < kLeastBytes) return {range};
  ranges_.insert(std::upper_bound(ranges_.begin(), ranges_.end(), range, is_smaller), range);
  bytes_ += range.bytes;
  // A larger one can stand for a smaller, within limits, and never the other way round.
  auto last = ranges_.begin();
  while (bytes_ > most_bytes_) bytes_ -= last++->bytes;
  std::vector<MemoryRange> freed(ranges_.begin(), last);
  ranges_.erase(ranges_.begin(), last);
  return freed;
}

std::vector<MemoryRange> KeptMemory::take_all() {
  bytes_ = 0;
  return std::exchange(ranges_, {});
}

namespace {

constexpr std::uint64_t kShareOfAll = 4;

cudaError_t free_overwritten(const MemoryRange& range) {
  auto* const data = reinterpret_cast<void*>(range.address);
  // Whoever gets these pages next, in whichever process, finds nothing in them.
  if (virtual_gpu_name().empty())
    if (const cudaError_t code = cudaMemset(data, 0, range.bytes); code != cudaSuccess) return code;
  return cudaFree(data);
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const MemoryRange& range : kept_.take_all())
    static_cast<void>(cudaFree(reinterpret_cast<void*>(range.address)));
}

std::uint64_t DeviceMemory::usual_kept_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (!virtual_gpu_name().empty() || cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
    return 0;
  return total_bytes / kShareOfAll;
}

cudaError_t DeviceMemory::allocate(std::uint64_t bytes, void*& data) {
  MemoryRange range{0, bytes};
  if (const auto kept = kept_.take(bytes)) {
    range = *kept;
    data = reinterpret_cast<void*>(range.address);
  } else {
    cudaError_t code = cudaMalloc(&data, bytes);
    if (code == cudaErrorMemoryAllocation && kept_.bytes() > 0) {
      static_cast<void>(cudaGetLastError());
      free_all_kept();
      code = cudaMalloc(&data, bytes);
    }
    if (code != cudaSuccess) return code;
    range.address = reinterpret_cast<std::uintptr_t>(data);
  }
  if (data != nullptr) whole_bytes_[range.address] = range.bytes;
  return cudaSuccess;
}

cudaError_t DeviceMemory::free(void* data, std::uint64_t bytes) {
  MemoryRange range{reinterpret_cast<std::uintptr_t>(data), bytes};
  // Not there: of a stream's own pool.
  if (const auto found = whole_bytes_.find(range.address); found != whole_bytes_.end()) {
    range.bytes = found->second;
    whole_bytes_.erase(found);
  }
  const auto freed = kept_.keep(range);
  if (freed.empty()) return cudaDeviceSynchronize();
  cudaError_t first = cudaSuccess;
  for (const MemoryRange& one : freed)
    if (const cudaError_t code = free_overwritten(one); first == cudaSuccess) first = code;
  return first;
}

void DeviceMemory::free_all_kept() {
  for (const MemoryRange& range : kept_.take_all()) static_cast<void>(free_overwritten(range));
}

namespace {

constexpr std::size_t kMostBlocks = 256;

}  // namespace

Staging::~Staging() {
  for (const Block& block : blocks_) {
    static_cast<void>(cudaEventDestroy(block.done));
    static_cast<void>(cudaFreeHost(block.data));
  }
}

cudaError_t Staging::find_block(std::size_t bytes, std::size_t& index) {
  for (index = 0; index < blocks_.size(); ++index) {
    const Block& block = blocks_[index];
    if (block.has_result || block.room_bytes < bytes) continue;
    const cudaError_t code = cudaEventQuery(block.done);
    if (code == cudaSuccess) return code;
    if (code != cudaErrorNotReady) return code;
    static_cast<void>(cudaGetLastError());
  }
  if (blocks_.size() >= kMostBlocks) return cudaErrorMemoryAllocation;
  Block block;
  void* data = nullptr;
  if (const cudaError_t code = cudaMallocHost(&data, bytes); code != cudaSuccess) return code;
  block.data = static_cast<std::byte*>(data);
  block.room_bytes = bytes;
  if (const cudaError_t code = cudaEventCreateWithFlags(&block.done, cudaEventDisableTiming);
      code != cudaSuccess) {
    static_cast<void>(cudaFreeHost(data));
    return code;
  }
  blocks_.push_back(block);
  return cudaSuccess;
}

cudaError_t Staging::copy_in(void* d_to, std::span<const std::byte> data, cudaStream_t stream) {
  if (data.empty()) return cudaSuccess;
  std::size_t index = 0;
  if (const cudaError_t code = find_block(data.size(), index); code != cudaSuccess) return code;
  const Block& block = blocks_[index];
  std::memcpy(block.data, data.data(), data.size());
  if (const cudaError_t code =
          cudaMemcpyAsync(d_to, block.data, data.size(), cudaMemcpyHostToDevice, stream);
      code != cudaSuccess)
    return code;
  return cudaEventRecord(block.done, stream);
}

cudaError_t Staging::copy_out(const void* d_from, std::size_t bytes, cudaStream_t stream,
                              std::uint32_t& ticket) {
  std::size_t index = 0;
  if (const cudaError_t code = find_block(bytes, index); code != cudaSuccess) return code;
  Block& block = blocks_[index];
  if (const cudaError_t code =
          cudaMemcpyAsync(block.data, d_from, bytes, cudaMemcpyDeviceToHost, stream);
      code != cudaSuccess)
    return code;
  block.used_bytes = bytes;
  block.has_result = true;
  ticket = static_cast<std::uint32_t>(index);
  return cudaEventRecord(block.done, stream);
}

cudaError_t Staging::take(std::uint32_t ticket, std::span<std::byte> room) {
  if (ticket >= blocks_.size() || !blocks_[ticket].has_result) return cudaErrorInvalidValue;
  Block& block = blocks_[ticket];
  if (const cudaError_t code = cudaEventQuery(block.done); code != cudaSuccess) return code;
  if (block.used_bytes > room.size()) return cudaErrorInvalidValue;
  std::memcpy(room.data(), block.data, block.used_bytes);
  block.has_result = false;
  return cudaSuccess;
}

}  // namespace membound::runner
