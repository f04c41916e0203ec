// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The inputs of a run and what stands in their place when its requests are done once more.
/// Place in the chain: program_test -> [other_inputs] -> replayed_run. Left out: where the words of
/// a copy come from if they are in no input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace membound::harness {

/// Words of 32 bits, each of which has one other word for it, wherever it stands: so a program may
/// copy its inputs in pieces, in rows with gaps, interleaved or in another order.
class OtherInputs {
 public:
  /// Two arrays of one size: what the program reads, and what is put in its place. Also what was
  /// copied back in the program's run and in the replay: it may be copied to the device again.
  void add(std::vector<std::uint32_t> given, std::vector<std::uint32_t> other);

  /// Replaces every word of an input in what a copy brings to the device; how many there were.
  std::size_t replace_in(std::span<std::byte> copied);

 private:
  struct Input {
    std::vector<std::uint32_t> given, other;
  };
  /// Whether the copy is a piece of that input from this word on; then it is replaced.
  bool replace_piece(std::span<std::byte> copied, std::size_t input, std::size_t word);

  std::vector<Input> inputs_;
  /// Where the latest copy that was a piece of an input ended: the next one often goes on there.
  std::size_t next_input_ = 0, next_word_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> other_of_;  // made when it is first needed,
  std::size_t mapped_ = 0;                                     // of so many inputs
};

/// A whole number from `low` to `high` instead of `value`, which is another one of them: the same
/// for the same value and key.
[[nodiscard]] std::int64_t other_integer(std::int64_t value, std::int64_t low, std::int64_t high,
                                         std::uint64_t key);

}  // namespace membound::harness
