// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bytes of the device's memory have been written: a flag for each, and one for each page of
/// which all are; and how long the words are that kernels stored in a page. Offsets count from the
/// beginning of the window.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "grader/vgpu/memory/lazy_tables.hpp"

namespace membound::vgpu::memory {

/// Of some bytes, those that nobody has written.
struct UnwrittenBytes {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< where the first of them lies, from the beginning of the bytes
};

class InitialisedBytes {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  /// Nothing of the window is written.
  explicit InitialisedBytes(std::uint64_t window_bytes);

  void set(std::uint64_t offset, std::uint64_t bytes, bool written);
  /// As bytes are copied within the window, that they are written is.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  /// A kernel stored words of `word_bytes`, a power of two, in the page at `offset`.
  void note_words(std::uint64_t offset, std::uint32_t word_bytes) {
    const std::atomic_ref words(words_[offset / kPageBytes]);
    const auto bit = static_cast<std::uint8_t>(word_bytes);
    if ((words.load(std::memory_order_relaxed) & bit) == 0)
      words.fetch_or(bit, std::memory_order_relaxed);
  }

  /// What of [begin, begin + bytes) is not written. Left out is what may be padding: members of a
  /// struct lie at multiples of their size, so before and after one of 2, 4, 8 or 16 bytes fewer
  /// than that may be nobody's, up to a multiple of it; where kernels stored no words so long there
  /// is no such member. Likewise the end of a row of `row_multiple` bytes, or a multiple of it; 0:
  /// there are no rows. `array_begin`: where the array with these bytes begins.
  [[nodiscard]] UnwrittenBytes unwritten(std::uint64_t begin, std::uint64_t bytes,
                                         std::uint64_t array_begin,
                                         std::uint64_t row_multiple) const;

  /// One byte per byte of the window, 1 = written.
  [[nodiscard]] std::uint8_t* flags() const { return flags_; }
  /// Of pages with these bytes, at most two; see AddressSpace::whole_pages_written.
  [[nodiscard]] bool whole_pages(std::uint64_t offset, std::uint64_t bytes) const {
    return (whole_pages_[offset / kPageBytes] & whole_pages_[(offset + bytes - 1) / kPageBytes]) !=
           0;
  }

 private:
  /// `all`: what every flag of these bytes is; unknown: they are looked at.
  void look_at_pages(std::uint64_t first, std::uint64_t bytes, std::optional<std::uint8_t> all);

  [[nodiscard]] bool may_be_padding(std::uint64_t begin, std::uint64_t end) const;

  LazyBytes bytes_, pages_, page_words_;
  std::uint8_t* flags_;
  std::uint8_t* whole_pages_;  // 1 where every byte is
  std::uint8_t* words_;        // of each page: the sizes of words that kernels stored, a bit each
};

}  // namespace membound::vgpu::memory
