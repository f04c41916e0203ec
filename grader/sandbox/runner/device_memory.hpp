// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the device for one judge, and the pinned memory through which a program's asynchronous
/// copies go. On a GPU what is freed is overwritten before another process can get it, or kept for
/// the next array of that size: the arrays of a timed case have the same sizes in each stage, and
/// to map, overwrite and unmap a GiB takes a GPU half a millisecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>

namespace membound::runner {

/// Device memory as the runtime gave it.
struct MemoryRange {
  std::uint64_t address = 0, bytes = 0;
};

/// What is kept at a moment, within a limit.
class KeptMemory {
 public:
  /// Below that the runtime itself keeps memory mapped, and an array of a test gets a range of its
  /// own.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;

  explicit KeptMemory(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// The smallest range that will do for so many bytes; none is more than twice as large.
  [[nodiscard]] std::optional<MemoryRange> take(std::uint64_t bytes);
  /// Keeps the range; those that have to be freed now, smaller ones first, perhaps itself.
  [[nodiscard]] std::vector<MemoryRange> keep(MemoryRange range);
  /// All, to be freed.
  [[nodiscard]] std::vector<MemoryRange> take_all();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::vector<MemoryRange> ranges_;  // by size
  std::uint64_t most_bytes_, bytes_ = 0;
};

/// Does not know what it handed out may be used for: Allocations does.
class DeviceMemory {
 public:
  /// Keeps up to `most_kept_bytes`. Where it keeps nothing every allocation is exactly as large as
  /// was asked for, and its end the place where the virtual GPU's memory ends.
  explicit DeviceMemory(std::uint64_t most_kept_bytes) : kept_(most_kept_bytes) {}
  /// Freed by hand, so that a scrub afterwards finds all of it.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A quarter of the GPU's memory: the other runner of a run needs as much. Nothing on the virtual
  /// GPU, whose memory is this process's and quickly had.
  [[nodiscard]] static std::uint64_t usual_kept_bytes();

  [[nodiscard]] cudaError_t allocate(std::uint64_t bytes, void*& data);
  /// Of what allocate() gave; waits for the device, as cudaFree() does.
  [[nodiscard]] cudaError_t free(void* data, std::uint64_t bytes);
  /// What nobody uses, beside what the runtime calls free.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_.bytes(); }

 private:
  void free_all_kept();

  KeptMemory kept_;
  std::map<std::uint64_t, std::uint64_t> whole_bytes_;  // of ranges in use, by address
};

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
