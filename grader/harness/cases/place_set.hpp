// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which elements of an array were written: a bit each, and what is missing of those that must be.
/// Place in the chain: whole_run, coverage -> [place_set]. Left out: their values.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace membound::harness
