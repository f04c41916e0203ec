// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which elements of an array each block of a launch writes (or reads), as a rule that some blocks
/// show: and whether, by that rule, all blocks together have each element exactly once.
/// Place in the chain: coverage -> [tiling]. Left out: running blocks; values.
///
///   block (x, y)        has the elements of one shape, moved by  x · across + y · down
///   the first and the   have shapes of their own, in each direction: tiles cut off at an edge
///   last of a direction
///   a grid of one       may stand for two: x is then a tile's column, or x % columns, and
///   direction           x / columns its row
///
/// What a move takes past an end of the array is cut off. Kernels whose blocks lie otherwise (along
/// diagonals, in an order that a table says) have no such rule; then nothing is known of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {

/// Elements [first, first + count) of an array.
struct ElementRun {
  std::int64_t first = 0, count = 0;
  friend bool operator==(const ElementRun&, const ElementRun&) = default;
};
/// Of one block: in order, with gaps between them.
using Footprint = std::vector<ElementRun>;

/// Adds a run behind those that are there; neighbours become one.
void append(Footprint& footprint, std::int64_t first, std::int64_t count);
/// The elements of all, each once.
[[nodiscard]] Footprint united(std::vector<ElementRun> runs);
[[nodiscard]] std::int64_t elements_of(const Footprint& footprint);

/// The rule of one launch.
class Tiling {
 public:
  using Grid = std::array<std::uint64_t, 3>;
  /// Runs one block (a number in launch order) and says what it has; nothing where it cannot.
  using Show = std::function<std::optional<Footprint>(std::uint64_t block)>;

  /// How much is asked.
  struct Effort {
    int tries = 32;  ///< blocks drawn at random on which the rule is tried
    /// Of the blocks at edges those in corners must do; none at powers of two: a block takes long.
    bool is_sparing = false;
  };
  /// The rule that some blocks show, tried on blocks that follow from `seed` and on those at edges
  /// and at powers of two. Nothing where there is none.
  [[nodiscard]] static std::optional<Tiling> find(const Grid& grid, std::int64_t elements,
                                                  std::uint64_t seed, const Effort& effort,
                                                  const Show& show);

  /// What this block has.
  [[nodiscard]] Footprint of(std::uint64_t block) const;

  /// Whether all blocks together have each of these elements exactly once, and no other. False,
  /// too, where blocks overlap, or where finding out would take long. By random numbers from
  /// `seed`.
  [[nodiscard]] bool has_each_once(const WrittenRows& declared, std::uint64_t seed) const;

 private:
  /// A direction: the block's coordinate in it is number / stride % extent.
  struct Axis {
    std::uint64_t stride = 1, extent = 1;
    std::int64_t move = 0;   ///< of elements, from one block to the next
    std::uint64_t from = 0;  ///< the coordinate whose shape is known, of those between the ends

    [[nodiscard]] std::uint64_t coordinate(std::uint64_t block) const {
      return block / stride % extent;
    }
    /// 0: the first; 1: one between the ends; 2: the last.
    [[nodiscard]] int kind(std::uint64_t coordinate) const {
      return coordinate == 0 ? 0 : coordinate + 1 == extent ? 2 : 1;
    }
  };
  class Finder;

  [[nodiscard]] int class_of(std::uint64_t block) const;

  std::int64_t elements_ = 0;
  std::vector<Axis> axes_;
  std::map<int, Footprint> shapes_;  ///< of each class: kinds as digits to base 3
};

}  // namespace membound::harness
