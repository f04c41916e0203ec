// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Flags of bytes that have been written, one byte each; the sizes of ordinary accesses without a
/// call.
/// Place in the chain: initcheck -> [written_bytes].
#pragma once

#include <cstdint>
#include <cstring>

namespace membound::vgpu::exec {

/// Has every byte been written?
[[nodiscard]] inline bool all_written(const std::uint8_t* written, std::uint32_t bytes) {
  std::uint64_t flags = 0x0101010101010101u;
  switch (bytes) {
    case 4: {
      std::uint32_t word;
      std::memcpy(&word, written, 4);
      return word == 0x01010101u;
    }
    case 8:
      std::memcpy(&flags, written, 8);
      return flags == 0x0101010101010101u;
    case 16: {
      std::uint64_t upper;
      std::memcpy(&flags, written, 8);
      std::memcpy(&upper, written + 8, 8);
      return (flags & upper) == 0x0101010101010101u;
    }
    default:
      return std::memchr(written, 0, bytes) == nullptr;
  }
}

inline void set_written(std::uint8_t* written, std::uint32_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101u;
  switch (bytes) {
    case 4:
      std::memcpy(written, &kOnes, 4);
      break;
    case 8:
      std::memcpy(written, &kOnes, 8);
      break;
    default:
      std::memset(written, 1, bytes);
      break;
  }
}

}  // namespace membound::vgpu::exec
