// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which blocks of a large launch run to stand for all: whole SMs of whole waves.
///
///   wave 0   0 | 1 2 3 … of the first wave          block 0 stands for itself:
///   wave 1   |                                      what only it does would else
///   wave 2   | SM s: blocks s, s + SMs, s + 2 SMs   count for a whole stratum.
///    …       |  = a group                           So may the last block.
///   wave n   … of the last wave | N − 1
///
/// The blocks that an SM holds at once are a group: they share its L1. A round has the groups of
/// neighbouring SMs in one wave, because blocks that differ often do so in turns (every third at
/// the end of a row): which wave and SMs, the seed says. So no kernel can know what will be looked
/// at, and one that differs along the grid shows. Place in the chain: sampled_launch ->
/// [block_choice]. Left out: running them.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::vgpu::exec {

/// Blocks that are alike in where they lie, and those of them that run.
struct Stratum {
  std::uint64_t first = 0, blocks = 0;  ///< [first, first + blocks)
};

/// A launch, as its blocks are dealt out.
class BlockChoice {
 public:
  /// Which of block 0 and the last stand for themselves.
  enum class Ends : std::uint8_t { kFirst, kLast, kBoth };
  /// `blocks` on `sms`, each of which holds `places` at once. `most`: so many blocks of a group
  /// run.
  BlockChoice(std::uint64_t blocks, std::uint32_t sms, std::uint32_t places, std::uint64_t seed,
              Ends ends, std::uint32_t most);

  /// Block 0, the first wave, the middle, the last wave, the last block; those without blocks are
  /// left out.
  [[nodiscard]] const std::vector<Stratum>& strata() const { return strata_; }

  /// Blocks of `groups` groups of a stratum, in turn order: turn t belongs to group t % groups,
  /// which becomes less where there are fewer. Each round has others; none when no more are left.
  /// All blocks in the first round, where that many groups have no fewer.
  [[nodiscard]] std::vector<std::uint64_t> take(const Stratum& stratum, std::uint32_t& groups,
                                                std::uint32_t round) const;
  /// Which part of the blocks that an SM holds of this stratum run, where not all of it do.
  [[nodiscard]] double part_of_group(const Stratum& stratum) const;

 private:
  [[nodiscard]] std::uint64_t held_by_sm(const Stratum& stratum) const;
  [[nodiscard]] std::uint64_t random(std::uint64_t a, std::uint64_t b) const;
  std::uint64_t wave_;
  std::uint32_t sms_, places_, most_;
  std::uint64_t seed_;
  std::vector<Stratum> strata_;
};

}  // namespace membound::vgpu::exec
