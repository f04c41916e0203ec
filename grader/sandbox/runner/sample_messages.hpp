// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a test program asks of a virtual GPU's runner to time a launch by some of its blocks.
/// Place in the chain: messages -> [sample_messages] -> wire.
///
/// Inputs are drawn in the runner, where they are touched. Their seed says no more than the input
/// itself would: all seeds follow from a key that the judge keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "grader/base/values.cuh"
#include "grader/sandbox/runner/program_messages.hpp"

namespace membound::runner {

/// Arrays are drawn and looked at in pieces of so many bytes; the last one may be shorter.
inline constexpr std::uint64_t kPieceBytes = 512;

/// Launches from here on run some of their blocks, as the seed says; with `on` 0 all of them, with
/// 2 all of those that prepare what a sampled one needs; with 3 all, and nothing is counted; with
/// kBlockRange likewise, but only blocks [first, first + count), in at most so many instructions.
struct SampleLaunches {
  using Answer = NoAnswer;
  static constexpr std::uint8_t kBlockRange = 5;
  std::uint8_t on = 0;
  std::uint64_t seed = 0;
  std::uint64_t first = 0, count = 0, most_instructions = 0;
  bool operator==(const SampleLaunches&) const = default;
};
/// The allocation at `address` holds this word over and over until something else is written.
struct DrawWord {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::uint32_t word = 0;
};
/// It is this input, drawn when it is first touched.
struct DrawInput {
  using Answer = NoAnswer;
  std::uint64_t address = 0;
  std::uint32_t type = 0;  ///< a base::ElementType
  base::Draw how{};
};
struct AsDrawnAnswer {
  std::uint8_t is_as_drawn = 0;
};
/// Whether what was touched of it still holds what was drawn.
struct AskAsDrawn {
  using Answer = AsDrawnAnswer;
  std::uint64_t address = 0;
};

struct TouchedRange {
  std::uint64_t offset = 0, bytes = 0;  ///< whole pieces
};
/// The ranges' bytes stand in the shared buffer, one range after the other.
struct TouchedAnswer {
  std::vector<TouchedRange> ranges;
  std::uint8_t more = 0;  ///< there are some behind the last of these
};
/// What was touched, at or behind offset `from`, of an array that is drawn.
struct AskTouched {
  using Answer = TouchedAnswer;
  std::uint64_t address = 0, from = 0;
};

}  // namespace membound::runner
