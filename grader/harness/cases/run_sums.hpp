// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether millions of moved shapes have each element of an array exactly once, without going
/// through the elements: both sides are polynomials, compared at a point.
/// Place in the chain: tiling -> [run_sums]. Left out: where the shapes come from.
///
/// Element e stands for z^e modulo the prime 2^61 − 1. A run of them is a geometric series, and so
/// is a shape that is moved again and again by the same distance: sums of millions of elements take
/// a few multiplications. Two different multisets of elements below 2^40 agree at a point drawn at
/// random in one of 2^21 cases (Schwartz–Zippel), at three points in none that anybody meets.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {

struct ElementRun;

/// The sum at one point.
class RunSums {
 public:
  /// Moves by `distance`, `first` to `first + count - 1` times.
  struct Move {
    std::int64_t distance = 0, first = 0, count = 1;
  };

  /// Of an array of so many elements; what would take more steps is given up.
  RunSums(std::uint64_t point, std::int64_t elements, std::uint64_t most_steps);

  /// Adds a shape at each combination of moves, without what lies outside of the array. False:
  /// given up.
  [[nodiscard]] bool add(std::span<const ElementRun> shape, std::vector<Move> moves);

  [[nodiscard]] std::uint64_t value() const { return sum_; }
  /// What the sum of each declared element once is.
  [[nodiscard]] std::uint64_t of_rows(const WrittenRows& declared) const;

 private:
  [[nodiscard]] std::uint64_t power(std::int64_t exponent) const;
  /// 1 + q + … of so many terms, where q is the point to that power.
  [[nodiscard]] std::uint64_t series(std::int64_t exponent, std::int64_t terms) const;
  [[nodiscard]] std::uint64_t run(std::int64_t first, std::int64_t count) const;
  [[nodiscard]] bool add_cut(const ElementRun& run, std::span<const Move> moves);
  [[nodiscard]] bool add_cut_along(const ElementRun& run, const Move& move);
  void plus(std::uint64_t value);
  [[nodiscard]] bool step();

  std::int64_t elements_;
  std::uint64_t steps_left_;
  std::array<std::array<std::uint64_t, 256>, 8> powers_;  ///< of the point: of each byte
  std::uint64_t per_element_;                             ///< 1 / (z − 1)
  std::uint64_t sum_ = 0;
};

}  // namespace membound::harness
