// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sets of elements of an array: as a bit each, for what was written and what is missing; and as
/// sums, for whether millions of moved shapes have each element exactly once, without going through
/// them.
///
/// In sums element e stands for z^e modulo the prime 2^61 − 1. A run of them is a geometric series,
/// and so is a shape that is moved again and again by the same distance: sums of millions of
/// elements take a few multiplications. Two different multisets of elements below 2^40 agree at a
/// point drawn at random in one of 2^21 cases (Schwartz–Zippel), at three points in none that
/// anybody meets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {

/// A set of element numbers below `elements`.
class PlaceSet {
 public:
  explicit PlaceSet(std::size_t elements) : elements_(elements), words_((elements + 63) / 64) {}

  /// What lies past the end is left out.
  void add(std::size_t first, std::size_t count);
  [[nodiscard]] bool has(std::size_t index) const {
    return (words_[index / 64] >> (index % 64) & 1) != 0;
  }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  /// Of the elements so many are in the set.
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }

  /// Elements that must be written and are not in the set, and those in it that must not be.
  struct Difference {
    std::size_t missing = 0, first_missing = 0, last_missing = 0;
    std::size_t beside = 0, first_beside = 0;
  };
  [[nodiscard]] Difference difference_from(const WrittenRows& declared) const;

 private:
  std::size_t elements_;
  std::vector<std::uint64_t> words_;
};

/// 268435456 as "268,435,456".
[[nodiscard]] std::string grouped(std::uint64_t number);

/// "of 268,435,456 elements of the output 12,435,456 are written by none of the launch's 1,000,000
/// blocks, the first is element 0"; where they lie side by side at an end of the array, that the
/// grid ends there. Empty where nothing is missing and nothing was written that must not be.
[[nodiscard]] std::string text_of(const PlaceSet::Difference& difference,
                                  const WrittenRows& declared, std::size_t elements,
                                  std::uint64_t blocks);

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
