// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How long after its last use something is used again, as a histogram, and what follows from it
/// for a cache of a given size.
/// Place in the chain: memory/sm_lines -> [reuse_times] -> exec/observe/cache_observer.
///
/// Source: the footprint theory of locality (Xiang, Ding, Luo, Bao: HOTL, ASPLOS 2013). A window of
/// w units of time sees fp(w) different lines, and fp grows from w to w + 1 by the uses whose last
/// use lies more than w back. A cache of C lines keeps what it has for as long as the footprint
/// takes to grow to C: uses that come sooner hit. Exact for a least-recently-used cache whose
/// traffic looks the same all the time; here that is an assumption.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace membound::vgpu::memory {

/// Uses by the time since the last one; exact below 8, then four steps an octave.
class ReuseTimes {
 public:
  static constexpr std::uint32_t kBuckets = 124;

  /// The bucket of a time.
  [[nodiscard]] static constexpr std::uint8_t bucket(std::uint32_t time) {
    if (time < 4) return static_cast<std::uint8_t>(time);
    const int octave = std::bit_width(time) - 3;
    return static_cast<std::uint8_t>(4 * octave + static_cast<int>(time >> octave));
  }
  /// The shortest time in a bucket.
  [[nodiscard]] static constexpr std::uint32_t shortest(std::uint32_t bucket) {
    if (bucket < 8) return bucket;
    return (4 + bucket % 4) << (bucket / 4 - 1);
  }

  /// `uses` that came back after a time of this bucket.
  void add(std::uint8_t bucket, std::uint32_t uses) { uses_[bucket] += uses; }
  /// `uses` of what was not used before.
  void add_first(std::uint32_t uses) { first_ += uses; }
  void add(const ReuseTimes& other);

  [[nodiscard]] std::uint64_t total() const;
  /// Those that came back after a time in the first `buckets` buckets.
  [[nodiscard]] std::uint64_t within(std::uint32_t buckets) const;
  /// How many of the first buckets a cache of `lines` lines serves, when all these uses were made
  /// within `duration` units of time (of several caches: added up).
  [[nodiscard]] std::uint32_t kept_by(std::uint64_t lines, std::uint64_t duration) const;

 private:
  std::array<std::uint64_t, kBuckets> uses_{};
  std::uint64_t first_ = 0;
};

}  // namespace membound::vgpu::memory
