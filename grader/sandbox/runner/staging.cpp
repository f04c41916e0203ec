// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/staging.hpp"

#include <cstring>

namespace membound::runner {
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
