// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who touched a word last: the memory of the race checker. Two accesses race when two threads make
/// them, one writes, not both are atomic, and nothing orders them. Order comes from barriers and
/// fences, told as epochs, never from the order in which the emulator happened to run threads.
/// Place in the chain: exec/checker -> [access_shadow].
/// Left out: elements smaller than 4 bytes; flags handed over without a fence count as ordered.
#pragma once

#include <cstddef>
#include <cstdint>

namespace membound::vgpu::memory {

/// One access in 64 bits, from the top: block 22, era 14 (fences seen in the launch), epoch 20
/// (barriers its block had passed), warp 6 (number + 1), atomic 1, many 1. Zero: nobody yet.
/// Counters that overflow wrap; block numbers that do can only hide a race between blocks.
class ShadowStamp {
 public:
  constexpr ShadowStamp() = default;
  constexpr ShadowStamp(std::uint64_t block, std::uint64_t era, std::uint64_t epoch,
                        std::uint64_t warp, bool atomic)
      : bits_((block & 0x3FFFFF) << 42 | (era & 0x3FFF) << 28 | (epoch & 0xFFFFF) << 8 |
              ((warp + 1) & 0x3F) << 2 | std::uint64_t{atomic} << 1) {}

  [[nodiscard]] constexpr std::uint64_t block() const { return bits_ >> 42; }
  [[nodiscard]] constexpr std::uint64_t warp() const { return ((bits_ >> 2) & 0x3F) - 1; }
  [[nodiscard]] constexpr bool atomic() const { return (bits_ & 2) != 0; }
  /// Several warps have read since.
  [[nodiscard]] constexpr bool many() const { return (bits_ & 1) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  constexpr void set_many() { bits_ |= 1; }
  constexpr void clear_atomic() { bits_ &= ~std::uint64_t{2}; }

  /// Nothing orders the two: same era, and another block or, in the same epoch, another warp.
  [[nodiscard]] constexpr bool unordered(ShadowStamp other) const {
    const std::uint64_t difference = bits_ ^ other.bits_;
    if (bits_ == 0 || (difference & kEra) != 0) return false;
    if ((difference & kBlock) != 0) return true;
    return (difference & kEpoch) == 0 && (difference & kWarp) != 0;
  }
  /// Same block, era and epoch, whatever the warp.
  [[nodiscard]] constexpr bool same_period(ShadowStamp other) const {
    return ((bits_ ^ other.bits_) & (kBlock | kEra | kEpoch)) == 0;
  }
  /// Same block, era, epoch and warp.
  [[nodiscard]] constexpr bool same_thread(ShadowStamp other) const {
    return ((bits_ ^ other.bits_) & ~std::uint64_t{3}) == 0;
  }
  /// The same era, in an order that a barrier of the block does not decide.
  [[nodiscard]] constexpr bool same_time(ShadowStamp other) const {
    const std::uint64_t difference = bits_ ^ other.bits_;
    return bits_ != 0 && (difference & kEra) == 0 &&
           ((difference & kBlock) != 0 || (difference & kEpoch) == 0);
  }

 private:
  static constexpr std::uint64_t kBlock = ~std::uint64_t{0} << 42;
  static constexpr std::uint64_t kEra = std::uint64_t{0x3FFF} << 28;
  static constexpr std::uint64_t kEpoch = std::uint64_t{0xFFFFF} << 8;
  static constexpr std::uint64_t kWarp = std::uint64_t{0x3F} << 2;
  std::uint64_t bits_ = 0;
};

/// Last write and last read of one 4-byte word.
struct ShadowWord {
  ShadowStamp write;
  ShadowStamp read;
};

/// What an access did wrong, if anything.
enum class RaceKind : std::uint8_t { kNone, kReadAfterWrite, kWriteAfterWrite, kWriteAfterRead };

/// Notes one access, and says whether it races with the one noted before.
[[nodiscard]] inline RaceKind note_access(ShadowWord& word, ShadowStamp now, bool writes) {
  RaceKind race = RaceKind::kNone;
  if (word.write.unordered(now) && !(word.write.atomic() && now.atomic())) [[unlikely]]
    race = writes ? RaceKind::kWriteAfterWrite : RaceKind::kReadAfterWrite;
  if (writes) {
    const bool others = word.read.many() ? word.read.same_time(now) : word.read.unordered(now);
    if (race == RaceKind::kNone && others && !(word.read.atomic() && now.atomic())) [[unlikely]]
      race = RaceKind::kWriteAfterRead;
    word.write = now;
    return race;
  }
  // One stamp stands for all readers of a period: another warp among them makes it "many", one that
  // read plainly makes it plain.
  const bool counted =
      word.read.same_thread(now) || (word.read.many() && word.read.same_period(now));
  if (!counted || (word.read.atomic() && !now.atomic())) {
    const bool together = word.read.same_time(now);
    const bool plain = together && !word.read.atomic();
    word.read = now;
    if (together) word.read.set_many();
    if (plain) word.read.clear_atomic();
  }
  return race;
}

/// Shadow words for a range of addresses, in memory that costs nothing until touched.
class AccessShadow {
 public:
  /// Covers [begin, begin + bytes).
  AccessShadow(std::uint64_t begin, std::uint64_t bytes);
  ~AccessShadow();
  AccessShadow(const AccessShadow&) = delete;
  AccessShadow& operator=(const AccessShadow&) = delete;

  /// Null outside the range.
  [[nodiscard]] ShadowWord* word(std::uint64_t address) {
    const std::uint64_t index = (address - begin_) / 4;
    return index < words_ ? data_ + index : nullptr;
  }

 private:
  std::uint64_t begin_;
  std::uint64_t words_;
  ShadowWord* data_ = nullptr;
};

}  // namespace membound::vgpu::memory
