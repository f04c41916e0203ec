// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lazily generated array: device memory whose bytes are made when they are first touched, so
/// that one of 2 GiB costs what a kernel uses of it. Left out: what the bytes are.
///
/// What was made lies close together, wherever it stands in the array: a column of a matrix would
/// else take a page of the host for each of its rows. A worker remembers where the chunks lie
/// that its lanes touched last: lanes that walk along rows come back to them, and so do warps that
/// store to the same rows.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "grader/vgpu/memory/lazy_tables.hpp"

namespace membound::vgpu::memory {

/// Makes bytes [offset, offset + bytes) of an array: the same whoever asks, and when.
using ByteSource = std::function<void(std::uint64_t offset, std::byte* to, std::uint64_t bytes)>;

/// One array. Several threads may touch it; each chunk is made once and stays where it is.
class LazyArray {
 public:
  /// So many bytes are made at once: a row of a tile should not draw many of its neighbours.
  static constexpr std::uint64_t kChunkBytes = 512;

  LazyArray(std::uint64_t bytes, ByteSource source);
  ~LazyArray();
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;

  [[nodiscard]] std::uint64_t size_bytes() const { return bytes_; }
  /// Where the byte at `offset` is; null: not there yet.
  [[nodiscard]] std::byte* find(std::uint64_t offset) const {
    const std::uint32_t place = place_of(offset / kChunkBytes);
    return place == 0 ? nullptr : host_of(place) + offset % kChunkBytes;
  }
  /// The same; makes its chunk where that is not there yet.
  [[nodiscard]] std::byte* make_in_chunk(std::uint64_t offset) {
    if (std::byte* const there = find(offset)) [[likely]]
      return there;
    return host_of(make_chunk(offset / kChunkBytes)) + offset % kChunkBytes;
  }
  /// Makes what is not there yet of [offset, offset + bytes). Where it is; null: not side by side.
  [[nodiscard]] std::byte* make(std::uint64_t offset, std::uint64_t bytes);
  /// Makes the chunk with `offset`; what is there about it side by side, at most a page.
  struct Range {
    std::uint64_t begin, end;  ///< offsets
    std::byte* host;           ///< of `begin`
  };
  [[nodiscard]] Range made_about(std::uint64_t offset);
  /// Every range that is there, in order, in parts that lie side by side.
  using See = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;
  void each_made(const See& see) const;
  /// So much is there, about.
  [[nodiscard]] std::uint64_t made_bytes() const { return used_.load() * kChunkBytes; }
  /// Is anything there?
  [[nodiscard]] bool was_touched() const { return used_.load() != 0; }
  /// Does all that is there hold what was made?
  [[nodiscard]] bool is_as_made() const;
  /// All of it, also what nobody has touched, one byte after the other.
  void copy_to(std::byte* host) const;

 private:
  /// Memory for chunks.
  struct Store {
    static constexpr std::uint32_t kChunks = 1024;
    alignas(64) std::array<std::byte, kChunks * kChunkBytes> bytes;
    std::array<std::uint32_t, kChunks> numbers;  ///< of the array's chunks that are here
  };
  struct Spares;
  static Spares& spares();

  /// Of a page's chunks: 1 + the number of its place in the stores; 0: not made.
  static constexpr std::uint64_t kChunksOfPage = 8;
  static constexpr std::uint32_t kBeingMade = ~std::uint32_t{0};  ///< by some thread
  using Places = std::array<std::atomic<std::uint32_t>, kChunksOfPage>;
  [[nodiscard]] std::uint32_t place_of(std::uint64_t chunk) const {
    const Places* const page = places_.find(chunk / kChunksOfPage);
    return page == nullptr ? 0 : place_in(*page, chunk % kChunksOfPage);
  }
  [[nodiscard]] static std::uint32_t place_in(const Places& page, std::uint64_t chunk) {
    const std::uint32_t place = page[chunk].load(std::memory_order_acquire);
    return place == kBeingMade ? 0 : place;
  }
  [[nodiscard]] std::byte* host_of(std::uint32_t place) const {
    const std::uint32_t at = place - 1;
    return stores_[at / Store::kChunks].load(std::memory_order_acquire)->bytes.data() +
           at % Store::kChunks * kChunkBytes;
  }
  /// Do two places lie side by side?
  [[nodiscard]] static bool follows(std::uint32_t place, std::uint32_t next) {
    return place != 0 && next == place + 1 && place % Store::kChunks != 0;
  }
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t chunk) const;
  std::uint32_t make_chunk(std::uint64_t chunk);
  Store& store_of(std::uint32_t at);

  std::uint64_t bytes_, chunks_;
  ByteSource source_;
  SparsePages<Places> places_;
  LazyBytes stores_bytes_;
  std::atomic<Store*>* stores_;          ///< in those bytes
  std::atomic<std::uint32_t> used_ = 0;  ///< places
  std::mutex stores_mutex_;
};

/// One worker's, for as long as a launch runs: a chunk stays where it is for so long.
class LaneChunks {
 public:
  static constexpr std::uint64_t kBytes = LazyArray::kChunkBytes;

  /// Of each lane a whole chunk.
  struct Row {
    Row() { begin.fill(std::uint64_t{1} << 63); }  // where no address is
    std::array<std::uint64_t, 32> begin;           ///< address
    std::array<std::uint64_t, 32> host_offset{};   ///< from an address to its host byte

    [[nodiscard]] bool holds(std::uint32_t lane, std::uint64_t address, std::uint64_t bytes) const {
      return address - begin[lane] <= kBytes - bytes;
    }
  };
  /// Of a warp whose first lane is at `address`: what is near it there tends to be so in all lanes.
  [[nodiscard]] Row& row_of(std::uint64_t address) {
    return rows_[(address / kBytes * 0x9E3779B97F4A7C15u) >> (64 - kRowBits)];
  }

 private:
  static constexpr std::uint32_t kRowBits = 3;
  std::array<Row, 1u << kRowBits> rows_;
};

}  // namespace membound::vgpu::memory
