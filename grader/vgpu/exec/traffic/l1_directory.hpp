// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The model of L1: a directory of the lines that one SM's loads used last, and when; and the reuse
/// distances of these uses as a histogram, from which follows what a cache of a given size serves.
///
/// Lines of 128 bytes with four sectors. A line stays for as long as it is used often enough; a
/// sector is there once it was loaded, until its line leaves. Neither is decided here: a use is
/// filed under the longest time the line was left alone since the sector was loaded, and
/// ReuseDistances::served_by says later which of these times the L1 outlasts.
///
/// Source: the footprint theory of locality (Xiang, Ding, Luo, Bao: HOTL, ASPLOS 2013). A window of
/// w units of time sees fp(w) different lines, and fp grows from w to w + 1 by the uses whose last
/// use lies more than w back. A cache of C lines keeps what it has for as long as the footprint
/// takes to grow to C: uses that come sooner hit. Exact for a least-recently-used cache whose
/// traffic looks the same all the time; here that is an assumption.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace membound::vgpu::exec {

/// A step of a warp's clock, in the unit of these times. All other warps of the SM make one
/// meanwhile. Between two loads that do not wait for each other half of them do: an H200's L1 loses
/// half of what such loads share where its warps want twice the lines that it holds (1.5 to 4 times
/// by case), of loads that wait where they want once as many (load_order.cu).
inline constexpr std::uint32_t kWholeStep = 2, kStepInBatch = 1;

/// Uses by the time since the last one; exact below 8, then four steps an octave.
class ReuseDistances {
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
  void add(const ReuseDistances& other);

  [[nodiscard]] std::uint64_t total() const;
  /// Those that came back after a time in the first `buckets` buckets.
  [[nodiscard]] std::uint64_t within(std::uint32_t buckets) const;
  /// How many of the first buckets a cache of `lines` lines serves, when all these uses were made
  /// within `duration` units of time (of several caches: added up).
  [[nodiscard]] std::uint32_t served_by(std::uint64_t lines, std::uint64_t duration) const;

 private:
  std::array<std::uint64_t, kBuckets> uses_{};
  std::uint64_t first_ = 0;
};

/// How the sectors of a load were filed. L1 serves what is filed below what it keeps.
struct LoadedSectors {
  static constexpr std::uint8_t kNever = 0xFF;  ///< never loaded before
  std::uint32_t first = 0;                      ///< those: a bit each
  std::array<std::uint8_t, 4> filed{};          ///< under this bucket, plus one; 0: not wanted

  /// Of a load that passes L1 by.
  [[nodiscard]] static LoadedSectors all_first(std::uint32_t sectors) {
    LoadedSectors loaded{sectors, {}};
    for (std::uint32_t s = 0; s < 4; ++s) loaded.filed[s] = (sectors >> s & 1) != 0 ? kNever : 0;
    return loaded;
  }
};

/// The lines of one SM. It grows to hold many times what an L1 does, because blocks and warps come
/// one after another here that run side by side on the machine; what is forgotten for want of room
/// counts as never used.
class L1Directory {
 public:
  /// For an L1 of `l1_bytes`.
  explicit L1Directory(std::uint64_t l1_bytes);

  /// Fetches what load() will look at into the host's cache: an SM's turn comes seldom, and its
  /// lines have left that cache by then.
  void expect(std::uint64_t line) const {
    __builtin_prefetch(&sets_[place_of(static_cast<std::uint32_t>(line))], 1);
  }
  /// Sectors `sectors` (a bit each) of line number `line` (address / 128) are loaded at `time`.
  /// Files the line's use in `lines`, the sectors' in `uses`, and says how.
  LoadedSectors load(std::uint64_t line, std::uint32_t sectors, std::uint32_t time,
                     ReuseDistances& lines, ReuseDistances& uses);

 private:
  static constexpr std::uint32_t kWays = 4;
  struct Line {
    std::uint32_t number = 0;  ///< its low 32 bits: lines 512 GiB apart are taken for one
    /// The last uses that were close to each other begin at `from` and go on for `length`: another
    /// warp's use between them meets them.
    std::uint32_t from = 0;
    std::uint16_t length = 0;
    std::uint16_t fetched = 0;  ///< four bits a sector: when after `from`; 15: later, or before
    /// A sector's longest bucket since it was loaded, plus one; 0: not loaded.
    std::array<std::uint8_t, 4> longest{};
    std::uint32_t use(std::uint32_t time);
    void set_fetched(std::uint32_t sector, std::uint32_t time);
    [[nodiscard]] bool was_fetched_at(std::uint32_t sector, std::uint32_t time) const;
    [[nodiscard]] bool is_used() const { return std::bit_cast<std::uint32_t>(longest) != 0; }
  };
  /// As much as a cache line of the host. The line used last (in the order of calls) comes first.
  struct alignas(64) Set {
    std::array<Line, kWays> lines{};
  };
  /// Neighbours lie beside each other; lines some power of two apart do not all fall into few sets.
  [[nodiscard]] std::size_t place_of(std::uint32_t number) const {
    const std::uint64_t eight = (number >> 3) * std::uint64_t{0x9E3779B97F4A7C15};
    return ((eight >> (64 - set_bits_)) + (number & 7)) & (sets_.size() - 1);
  }
  bool grow();

  std::vector<Set> sets_;
  std::uint32_t set_bits_, most_set_bits_;
  std::size_t used_ = 0;  ///< lines
};

}  // namespace membound::vgpu::exec
