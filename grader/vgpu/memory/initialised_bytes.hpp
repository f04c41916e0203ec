// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bytes of the device's memory have been written: a flag for each, and one for each page of
/// which all are.
/// Place in the chain: address_space -> [initialised_bytes] -> lazy_bytes. Offsets count from the
/// beginning of the window.
#pragma once

#include <cstdint>
#include <optional>

#include "grader/vgpu/memory/lazy_bytes.hpp"

namespace membound::vgpu::memory {

class InitialisedBytes {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  /// Nothing of the window is written.
  explicit InitialisedBytes(std::uint64_t window_bytes);

  void set(std::uint64_t offset, std::uint64_t bytes, bool written);
  /// As bytes are copied within the window, that they are written is.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

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

  LazyBytes bytes_, pages_;
  std::uint8_t* flags_;
  std::uint8_t* whole_pages_;  // 1 where every byte is
};

}  // namespace membound::vgpu::memory
