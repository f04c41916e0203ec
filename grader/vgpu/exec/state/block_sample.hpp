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
#include <cstdint>

namespace membound::vgpu::exec {

class BlockSample {
 public:
  BlockSample() = default;
  /// At most `most` of `blocks`; 0: all.
  BlockSample(std::uint64_t blocks, std::uint64_t most)
      : blocks_(blocks), of_an_end_((most + 3) / 4), all_(most == 0 || blocks <= most) {
    period_ = std::max<std::uint64_t>(2, blocks_ / (of_an_end_ + 1));
  }

  [[nodiscard]] bool leaves_out_some() const { return !all_; }
  /// The block with this place in the grid.
  [[nodiscard]] bool has(std::uint64_t linear) const {
    return all_ || linear < of_an_end_ || linear >= blocks_ - of_an_end_ || linear % period_ < 2;
  }

 private:
  std::uint64_t blocks_ = 0, of_an_end_ = 0, period_ = 0;
  bool all_ = true;
};

}  // namespace membound::vgpu::exec
