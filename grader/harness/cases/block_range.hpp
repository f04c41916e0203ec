// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Some blocks of a launch, side by side in launch order.
/// Place in the chain: device, sample_report, coverage -> [block_range]. Left out: which.
#pragma once

#include <cstdint>

namespace membound::harness {

/// Blocks [first, first + count).
struct BlockRange {
  std::uint64_t first = 0, count = 0;
  std::uint64_t most_instructions = 0;  ///< of warps: with more it is not run; 0: no limit
};

}  // namespace membound::harness
