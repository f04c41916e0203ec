// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// SHA-256, HMAC-SHA256 and random bytes: names that depend on content alone, names of files,
/// records nobody can change unseen, seeds nobody can guess; OpenSSL's libcrypto computes them. And
/// a cheap hash that is the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace membound::base {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view text);

/// The same for a text that comes in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view part);
  /// 64 hexadecimal digits; the object is used up.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// HMAC-SHA256 of `text` under `key` (any bytes), 64 hexadecimal digits.
[[nodiscard]] std::string hmac_sha256(std::string_view key, std::string_view text);

/// Whether two digests are equal, in a time that does not tell where they differ.
[[nodiscard]] bool same_digest(std::string_view a, std::string_view b);

/// Bytes from the system's generator, for keys and seeds.
[[nodiscard]] std::string random_bytes(std::size_t count);

/// File systems end names at 255 bytes; this leaves room for a digest and an ending.
inline constexpr std::size_t kMostFileNameBytes = 150;

/// `text` as one name of a file: letters, digits, '.', '-', '_' stay, every other byte becomes %XX,
/// as does a '.' in front. Different texts get different names: of what is longer than
/// kMostFileNameBytes the end gives way to a digest of the whole.
[[nodiscard]] std::string file_name(std::string_view text);

/// Two hexadecimal digits for each byte.
[[nodiscard]] std::string hex(std::string_view bytes);

// FNV-1a of 64 bits (Fowler, Noll, Vo): the same on every machine and in every version, cheap,
// and no secret. Where somebody may want two texts to have the same number, use sha256().

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
