// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An array whose place in device memory can be drawn anew without allocating it again.
/// Place in the chain: device_buffer -> [placed_buffer] -> timed_run.
#pragma once

#include <cstdint>

#include "grader/harness/device/device_buffer.hpp"

namespace membound::harness {

/// `size_bytes` bytes somewhere in an allocation that has `room_bytes` more. Content is not
/// initialised, and means nothing after place().
class PlacedBuffer {
 public:
  PlacedBuffer() = default;
  explicit PlacedBuffer(std::size_t size_bytes, std::size_t room_bytes = 0)
      : memory_(size_bytes > 0 ? size_bytes + room_bytes : 0),
        size_bytes_(size_bytes),
        places_(room_bytes / kPageBytes + 1) {}

  /// Moves to one of its places; each follows from some draws.
  void place(std::uint64_t draw) { offset_bytes_ = draw % places_ * kPageBytes; }

  [[nodiscard]] void* data() const {
    auto* const start = static_cast<std::byte*>(memory_.data());
    return start == nullptr ? nullptr : start + offset_bytes_;
  }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  /// What a GPU's memory is mapped in: places are aligned like allocations of their own.
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  DeviceBuffer memory_;
  std::size_t size_bytes_ = 0, places_ = 1, offset_bytes_ = 0;
};

}  // namespace membound::harness
