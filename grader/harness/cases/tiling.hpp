// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which elements of an array each block of a launch writes (or reads), as a rule that some blocks
/// show: and whether, by that rule, all blocks together have each element exactly once.
///
///   block (x, y)         has the elements of one shape, moved by  x · across + y · down
///   the first, the last  have shapes of their own, in each direction: tiles cut off at an edge
///   and the next to last
///   rows out of step     may have 32 shapes in turns, as rows begin at 32 places of a line
///   a grid of one        may stand for two: x % columns is a tile's column, x / columns its row;
///   direction            or has a few stretches of blocks, in each of which every run of elements
///                        moves by a distance of its own: whole batches, and what is left
///
/// What a move takes past an end of the array is cut off. Blocks of two directions may take the
/// tiles along diagonals. Kernels whose blocks lie otherwise (in an order that a table says) have
/// no such rule; then nothing is known of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
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

/// Adds a run after those that are there; neighbours become one.
void append(Footprint& footprint, std::int64_t first, std::int64_t count);
/// The elements of all, each once.
[[nodiscard]] Footprint united(std::vector<ElementRun> runs);
[[nodiscard]] std::int64_t elements_of(const Footprint& footprint);

class RunSums;

/// The rule of one launch.
class Tiling {
 public:
  using Grid = std::array<std::uint64_t, 3>;
  /// Runs some blocks (numbers in launch order) and says what they have together; nothing where it
  /// cannot.
  using Show = std::function<std::optional<Footprint>(std::span<const std::uint64_t> blocks)>;

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

  /// Blocks that ran already, of which is known what they have together.
  struct Sample {
    std::function<bool(std::uint64_t block)> has;        ///< whether this is one of them
    std::function<bool(const Tiling& tiling)> confirms;  ///< whether a rule says the same of them
  };
  /// The rule that one block lets expect, if the sample confirms it, and the first block, the last
  /// and `effort.tries` drawn at random do, as far as they are not in the sample: side by side, or
  /// in rows of tiles, none of them cut off. Takes three or four blocks, where find() takes more.
  [[nodiscard]] static std::optional<Tiling> expect(const Grid& grid, std::int64_t elements,
                                                    std::uint64_t seed, const Effort& effort,
                                                    const Show& show, std::uint64_t block,
                                                    const Sample& sample);

  /// What this block (a number in launch order) has.
  [[nodiscard]] Footprint of(std::uint64_t block) const;

  /// Whether all blocks together have each of these elements exactly once, and no other. False,
  /// too, where blocks overlap, or where finding out would take long. By random numbers from
  /// `seed`.
  [[nodiscard]] bool has_each_once(const WrittenRows& declared, std::uint64_t seed) const;

 private:
  /// Which block of a grid of tiles a launched block takes.
  enum class Order : std::uint8_t {
    kAsLaunched,
    /// x = (x + y) % width, y as launched.
    kDiagonalsOfRows,
    /// y = number % height, x = (number / height + y) % width (Ruetsch, Micikevicius: Optimizing
    /// Matrix Transpose in CUDA, 2009). Of a square: y = x as launched, x = (x + y) % width.
    kDiagonals,
  };
  struct Numbering {
    Order order = Order::kAsLaunched;
    std::uint64_t width = 1, height = 1;
    [[nodiscard]] std::uint64_t tile(std::uint64_t launched) const;
    [[nodiscard]] std::uint64_t launched(std::uint64_t tile) const;
  };
  /// A direction: the block's coordinate in it is number / stride % extent.
  struct Axis {
    std::uint64_t stride = 1, extent = 1;
    bool has_all = false;    ///< each coordinate has a shape of its own
    std::int64_t move = 0;   ///< of elements, from one block to the next
    std::uint64_t from = 0;  ///< the coordinate whose shape is known, of those between the ends

    [[nodiscard]] std::uint64_t coordinate(std::uint64_t block) const {
      return block / stride % extent;
    }
    /// Coordinates from 1 that lie between the ends.
    [[nodiscard]] std::uint64_t between() const {
      return has_all || extent < 3 ? 0 : extent == 3 ? 1 : extent - 3;
    }
    /// 0: the first; kBetween; 2: the last; 3: the one before it. Of has_all: the coordinate.
    static constexpr int kBetween = 1;
    [[nodiscard]] int kind(std::uint64_t coordinate) const;
    [[nodiscard]] int kinds() const { return has_all ? static_cast<int>(extent) : 4; }
    /// One of a kind; nothing where the axis has none.
    [[nodiscard]] std::optional<std::uint64_t> one_of(int kind) const;
  };
  /// Blocks side by side, of a grid of one direction.
  struct Stretch {
    std::uint64_t first = 0, last = 0;
    Footprint shape;                  ///< of the first
    std::vector<std::int64_t> moves;  ///< of each of its runs
    [[nodiscard]] Footprint of(std::uint64_t block, std::int64_t elements) const;
  };
  class Finder;

  /// Of a tile; all below counts tiles.
  [[nodiscard]] Footprint of_tile(std::uint64_t block) const;
  [[nodiscard]] int class_of(std::uint64_t block) const;
  /// False: it would take long.
  [[nodiscard]] bool add_classes(RunSums& sums) const;

  Numbering numbering_;
  std::int64_t elements_ = 0;
  std::vector<Axis> axes_;
  std::map<int, Footprint> shapes_;  ///< of each class: kinds as digits
  std::vector<Stretch> stretches_;   ///< in their place, in order; empty: axes
};

}  // namespace membound::harness
