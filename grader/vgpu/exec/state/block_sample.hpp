// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which blocks of a large launch the checkers hear: neighbours at both ends, where grids are cut
/// off, and pairs of neighbours in between, evenly spread.
///
///   0 1 2 3 . 9 10 . 18 19 . 27 28 . 36 37 . 44 45 46 47        16 of 48
///
/// Place in the chain: LaunchRequest -> [block_sample] -> schedule/block, launch/grid.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace membound::vgpu::exec {

class BlockSample {
 public:
  BlockSample() = default;
  /// At most `most` of `blocks`; 0: all.
  BlockSample(std::uint64_t blocks, std::uint64_t most)
      : blocks_(blocks),
        most_(most),
        of_an_end_((most + 3) / 4),
        all_(most == 0 || blocks <= most) {
    period_ = std::max<std::uint64_t>(2, blocks_ / (of_an_end_ + 1));
  }

  [[nodiscard]] bool leaves_out_some() const { return !all_; }
  /// The block with this place in the grid.
  [[nodiscard]] bool has(std::uint64_t linear) const {
    return all_ || linear < of_an_end_ || linear >= blocks_ - of_an_end_ || linear % period_ < 2;
  }
  /// Those blocks, pairs of neighbours from all over the grid first, for whoever has no time for
  /// all of them; none where no limit was asked for.
  [[nodiscard]] std::vector<std::uint64_t> places() const {
    std::vector<std::uint64_t> all, spread;
    for (std::uint64_t linear = 0; most_ != 0 && linear < blocks_;) {
      if (has(linear))
        all.push_back(linear++);
      else
        linear = std::min((linear / period_ + 1) * period_, blocks_ - of_an_end_);
    }
    const std::size_t pairs = (all.size() + 1) / 2;
    const auto take = [&](std::size_t pair) {
      for (std::size_t i = 2 * pair; i < std::min(2 * pair + 2, all.size()); ++i)
        spread.push_back(all[i]);
    };
    if (pairs > 0) take(0);
    if (pairs > 1) take(pairs - 1);
    for (std::size_t step = std::bit_ceil(pairs) / 2; step > 0; step /= 2)
      for (std::size_t pair = step; pair + 1 < pairs; pair += 2 * step) take(pair);
    return spread;
  }

 private:
  std::uint64_t blocks_ = 0, most_ = 0, of_an_end_ = 0, period_ = 0;
  bool all_ = true;
};

}  // namespace membound::vgpu::exec
