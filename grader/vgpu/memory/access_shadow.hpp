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

/// One access as the shadow keeps it. Threads with equal `scope` order each other by `epoch`; those
/// of different scopes (blocks) do not.
struct ShadowStamp {
  std::uint32_t thread = 0;  ///< number in its block, plus 1; 0: nobody yet
  std::uint32_t scope = 0;   ///< block
  std::uint32_t epoch = 0;   ///< barriers its block had passed
  std::uint32_t era = 0;     ///< fences seen in the launch, and the launch itself
};

/// Last write and last read of one 4-byte word.
struct ShadowWord {
  ShadowStamp write;
  ShadowStamp read;
  bool write_atomic = false;
  bool read_atomic = false;
  bool many_readers = false;  ///< several threads have read it since the stamp of `read`
};

/// What an access did wrong, if anything.
enum class RaceKind : std::uint8_t { kNone, kReadAfterWrite, kWriteAfterWrite, kWriteAfterRead };

/// Notes one access, and says whether it races with the one noted before.
[[nodiscard]] RaceKind note_access(ShadowWord& word, const ShadowStamp& now, bool writes,
                                   bool atomic);

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
