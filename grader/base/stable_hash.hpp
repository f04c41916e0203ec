// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A number for bytes, the same on every machine and in every version, cheap, and no secret: FNV-1a
/// of 64 bits (Fowler, Noll, Vo). Where somebody may want two texts to have the same number, use
/// digest.hpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace membound::base {

/// Takes bytes one after another.
class StableHash {
 public:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }
  void add_bytes(std::string_view bytes) {
    for (const char byte : bytes) add_byte(static_cast<unsigned char>(byte));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

/// Of one text.
[[nodiscard]] inline std::uint64_t stable_hash(std::string_view text) {
  StableHash hash;
  hash.add_bytes(text);
  return hash.value();
}

}  // namespace membound::base
