// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What memory held before a launch wrote to it, so that the launch can be taken back and run
/// again. Pages of device memory, and chunks of lazily generated arrays, are kept when they are
/// first written to; host memory that a kernel reaches byte by byte, because its neighbours may
/// belong to a host thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/lazy_tables.hpp"

namespace membound::vgpu::memory {

/// One launch's. before_write() may be called from several threads at once.
class UndoLog {
 public:
  explicit UndoLog(AddressSpace& space);
  ~UndoLog();
  UndoLog(const UndoLog&) = delete;
  UndoLog& operator=(const UndoLog&) = delete;

  /// [address, address + bytes) is about to be written, at most a page; a legal access.
  void before_write(std::uint64_t address, std::uint64_t bytes) {
    const std::uint64_t first = address - begin_;
    if (first >= window_bytes_) return keep_host_bytes(address, bytes);
    if (any_lazy_)
      if (const auto drawn = space_.lazy_about(address); drawn.array != nullptr)
        return keep_pieces(drawn, address - drawn.begin, bytes);
    for (const std::uint64_t page : {first / kPageBytes, (first + bytes - 1) / kPageBytes})
      if (kept_[page].load(std::memory_order_acquire) == 0) keep(page);
  }

  /// Puts everything back as it was. No kernel may be running.
  void roll_back();

 private:
  static constexpr std::uint64_t kPageBytes = AddressSpace::kPageBytes;
  struct Page {
    std::uint64_t number = 0;
    alignas(64) std::array<std::byte, kPageBytes> bytes;
    /// Which bytes had been written: all of them or none, or else one flag each.
    std::uint8_t written = 0;
    std::vector<std::uint8_t> flags = {};
  };
  struct Spares;
  static Spares& spares();
  void keep(std::uint64_t page);
  void keep_pieces(const AddressSpace::LazyPlace& drawn, std::uint64_t offset, std::uint64_t bytes);
  void keep_host_bytes(std::uint64_t address, std::uint64_t bytes);

  AddressSpace& space_;
  std::uint64_t begin_, window_bytes_;
  std::int64_t host_offset_ = 0;
  bool any_lazy_;
  LazyBytes states_;
  std::atomic<std::uint8_t>* kept_;  ///< of each page; set once its content is in `pages_`
  std::mutex mutex_;                 ///< guards what follows
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> spare_;  ///< of earlier launches
  std::unordered_map<std::byte*, std::array<std::byte, LazyArray::kChunkBytes>> lazy_chunks_;
  std::unordered_map<std::uint64_t, std::byte> host_bytes_;
};

}  // namespace membound::vgpu::memory
