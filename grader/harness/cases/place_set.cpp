// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/place_set.hpp"

#include <algorithm>
#include <bit>

namespace membound::harness {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Bits [first, end) of a word.
std::uint64_t bits(std::size_t first, std::size_t end) {
  const std::uint64_t below_end = end >= 64 ? kAll : (std::uint64_t{1} << end) - 1;
  return below_end & kAll << first;
}

/// Calls see(word number, its bits) for elements [first, end).
template <typename See>
void each_word(std::size_t first, std::size_t end, const See& see) {
  while (first < end) {
    const std::size_t word = first / 64, stop = std::min(end, (word + 1) * 64);
    see(word, bits(first % 64, stop - word * 64));
    first = stop;
  }
}

}  // namespace

void PlaceSet::add(std::size_t first, std::size_t count) {
  if (first >= elements_) return;
  each_word(first, first + std::min(count, elements_ - first),
            [&](std::size_t word, std::uint64_t mask) { words_[word] |= mask; });
}

PlaceSet::Difference PlaceSet::difference_from(const WrittenRows& declared) const {
  Difference found;
  const auto look_at = [&](std::size_t first, std::size_t end, bool must_be) {
    each_word(first, end, [&](std::size_t word, std::uint64_t mask) {
      const std::uint64_t odd = (must_be ? ~words_[word] : words_[word]) & mask;
      if (odd == 0) return;
      const auto lowest = word * 64 + static_cast<std::size_t>(std::countr_zero(odd));
      const auto count = static_cast<std::size_t>(std::popcount(odd));
      if (must_be) {
        if (found.missing == 0) found.first_missing = lowest;
        found.missing += count;
        found.last_missing = word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(odd));
      } else {
        if (found.beside == 0) found.first_beside = lowest;
        found.beside += count;
      }
    });
  };
  if (declared.length == 0) {
    look_at(0, elements_, true);
    return found;
  }
  for (std::size_t row = 0; row < elements_; row += declared.length) {
    const std::size_t used = std::min(row + declared.used, elements_);
    look_at(row, used, true);
    look_at(used, std::min(row + declared.length, elements_), false);
  }
  return found;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string text_of(const PlaceSet::Difference& difference, const WrittenRows& declared,
                    std::size_t elements, std::uint64_t blocks) {
  if (difference.missing > 0) {
    std::string text = "of " + grouped(declared.count_of(elements)) + " elements of the output " +
                       grouped(difference.missing) + (difference.missing == 1 ? " is" : " are") +
                       " written by no block";
    const bool side_by_side =
        declared.length == 0 &&
        difference.last_missing + 1 - difference.first_missing == difference.missing;
    const bool at_an_end =
        (difference.first_missing == 0) != (difference.last_missing + 1 == elements);
    if (side_by_side && at_an_end)
      text += ": the grid ends at block " + grouped(blocks);
    else
      text += " of " + grouped(blocks);
    return text + "; the first is element " + grouped(difference.first_missing);
  }
  if (difference.beside > 0)
    return grouped(difference.beside) + " elements that must stay as they are were written" +
           "; the first is element " + grouped(difference.first_beside);
  return {};
}

}  // namespace membound::harness
