// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pinned memory of the runner through which a program's asynchronous copies go: the program's own
/// pinned memory lies in another process, where no device reaches it.
/// Place in the chain: server_program -> [staging] -> CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace membound::runner {

/// Blocks, each with the event that says when its copy is done. Blocks are kept for the next copy
/// and never freed before the end: freeing pinned memory waits for the device.
class Staging {
 public:
  Staging() = default;
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// A copy of `data` to the device, begun in that stream.
  [[nodiscard]] cudaError_t copy_in(void* d_to, std::span<const std::byte> data,
                                    cudaStream_t stream);
  /// A copy from the device, begun in that stream; take() knows it by its ticket.
  [[nodiscard]] cudaError_t copy_out(const void* d_from, std::size_t bytes, cudaStream_t stream,
                                     std::uint32_t& ticket);
  /// What a copy from the device has brought, or will bring where it is not done yet.
  [[nodiscard]] std::span<const std::byte> result_of(std::uint32_t ticket) const {
    return {blocks_[ticket].data, blocks_[ticket].used_bytes};
  }
  /// The bytes of a copy that is done; cudaErrorNotReady before, an error the second time.
  [[nodiscard]] cudaError_t take(std::uint32_t ticket, std::span<std::byte> room);

 private:
  struct Block {
    std::byte* data = nullptr;
    std::size_t room_bytes = 0, used_bytes = 0;
    cudaEvent_t done = nullptr;
    bool has_result = false;  // that nobody has taken yet
  };
  /// A block that no copy uses, of at least this size.
  [[nodiscard]] cudaError_t find_block(std::size_t bytes, std::size_t& index);

  std::vector<Block> blocks_;
};

}  // namespace membound::runner
