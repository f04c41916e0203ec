// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An array of device memory whose bytes are made when they are first touched, so that one of 2 GiB
/// costs what a kernel uses of it.
/// Place in the chain: address_space -> [drawn_array] -> lazy_bytes. Left out: what the bytes are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "grader/vgpu/memory/lazy_bytes.hpp"

namespace membound::vgpu::memory {

/// Makes bytes [offset, offset + bytes) of an array: the same whoever asks, and when.
using ByteSource = std::function<void(std::uint64_t offset, std::byte* to, std::uint64_t bytes)>;

/// One array. Several threads may touch it; each piece is made once.
class DrawnArray {
 public:
  /// So many bytes are made at once: a row of a tile should not draw many of its neighbours.
  static constexpr std::uint64_t kPieceBytes = 512;

  /// `host` is where the array of `bytes` bytes lies.
  DrawnArray(std::byte* host, std::uint64_t bytes, ByteSource source);

  [[nodiscard]] std::uint64_t size_bytes() const { return bytes_; }
  /// Makes what is not there yet of [offset, offset + bytes).
  void make(std::uint64_t offset, std::uint64_t bytes);
  /// Is the byte at `offset` there?
  [[nodiscard]] bool has(std::uint64_t offset) const {
    return (made(offset / kPageBytes).load(std::memory_order_acquire) >>
                (offset / kPieceBytes) % kPiecesOfPage &
            1) != 0;
  }
  /// Makes the piece with `offset`; returns all that is there about it, at most a page.
  struct Range {
    std::uint64_t begin, end;  ///< offsets
  };
  [[nodiscard]] Range made_about(std::uint64_t offset);
  /// Every range that is there, in order; neighbouring pieces are one range.
  void each_made(const std::function<void(Range)>& see) const;
  /// Is anything there?
  [[nodiscard]] bool was_touched() const;
  /// Does all that is there hold what was made?
  [[nodiscard]] bool is_as_made() const;

 private:
  static constexpr std::uint64_t kPiecesOfPage = 8, kPageBytes = kPiecesOfPage * kPieceBytes;
  /// Which pieces of a page were made, a bit each.
  [[nodiscard]] std::atomic_ref<std::uint8_t> made(std::uint64_t page) const {
    return std::atomic_ref(static_cast<std::uint8_t*>(made_.data())[page]);
  }
  void make_piece(std::uint64_t piece);

  std::byte* host_;
  std::uint64_t bytes_, pages_;
  ByteSource source_;
  LazyBytes made_;  // a byte a page
  std::mutex mutex_;
};

}  // namespace membound::vgpu::memory
