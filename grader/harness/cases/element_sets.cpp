// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/element_sets.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/harness/cases/tiling.hpp"

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

std::size_t PlaceSet::count() const {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
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
    return grouped(difference.beside) + " " +
           base::noun_after(static_cast<double>(difference.beside), "element") +
           " that must not change " + (difference.beside == 1 ? "was" : "were") +
           " written; the first is element " + grouped(difference.first_beside);
  return {};
}

namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  const auto low = static_cast<std::uint64_t>(product) & kPrime;
  const auto high = static_cast<std::uint64_t>(product >> 61);
  const std::uint64_t sum = low + high;
  return sum >= kPrime ? sum - kPrime : sum;
}

std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return a >= b ? a - b : a + kPrime - b; }

std::uint64_t inverse(std::uint64_t value) {
  std::uint64_t result = 1;  // value^(p − 2), by Fermat
  for (std::uint64_t exponent = kPrime - 2; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = times(result, value);
    value = times(value, value);
  }
  return result;
}

/// Rounded down and up.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

}  // namespace

RunSums::RunSums(std::uint64_t point, std::int64_t elements, std::uint64_t most_steps)
    : elements_(elements), steps_left_(most_steps) {
  std::uint64_t base = point % kPrime;
  for (auto& of_byte : powers_) {
    of_byte[0] = 1;
    for (std::size_t i = 1; i < of_byte.size(); ++i) of_byte[i] = times(of_byte[i - 1], base);
    base = times(of_byte.back(), base);
  }
  per_element_ = inverse(minus(powers_[0][1], 1));
}

std::uint64_t RunSums::power(std::int64_t exponent) const {
  constexpr auto kOrder = static_cast<std::int64_t>(kPrime - 1);
  auto left = static_cast<std::uint64_t>(exponent >= 0 ? exponent : exponent % kOrder + kOrder);
  std::uint64_t result = 1;
  for (std::size_t byte = 0; left != 0; ++byte, left >>= 8)
    if ((left & 255) != 0) result = times(result, powers_[byte][left & 255]);
  return result;
}

std::uint64_t RunSums::series(std::int64_t exponent, std::int64_t terms) const {
  if (terms <= 0) return 0;
  if (terms == 1) return 1;
  const std::uint64_t q = power(exponent);
  if (q == 1) return static_cast<std::uint64_t>(terms) % kPrime;
  return times(minus(power(exponent * terms), 1), inverse(minus(q, 1)));
}

std::uint64_t RunSums::run(std::int64_t first, std::int64_t count) const {
  return times(minus(power(first + count), power(first)), per_element_);
}

void RunSums::plus(std::uint64_t value) {
  sum_ += value;
  if (sum_ >= kPrime) sum_ -= kPrime;
}

bool RunSums::step() {
  if (steps_left_ == 0) return false;
  --steps_left_;
  return true;
}

bool RunSums::add(std::span<const ElementRun> shape, std::vector<Move> moves) {
  std::int64_t least = 0, most = 0;  // of what the moves come to
  for (const Move& move : moves) {
    const std::int64_t a = move.distance * move.first;
    const std::int64_t b = move.distance * (move.first + move.count - 1);
    least += std::min(a, b);
    most += std::max(a, b);
  }
  // The innermost goes furthest.
  std::ranges::sort(moves, {},
                    [](const Move& move) { return move.distance == 0 ? 0 : move.count; });
  std::uint64_t whole = 0;  // of runs that always lie inside
  for (const ElementRun& one : shape) {
    if (one.first + least >= 0 && one.first + one.count + most <= elements_) {
      whole += run(one.first, one.count);
      if (whole >= kPrime) whole -= kPrime;
      if (!step()) return false;
    } else if (!add_cut(one, moves)) {
      return false;
    }
  }
  for (const Move& move : moves)
    whole =
        times(times(whole, power(move.distance * move.first)), series(move.distance, move.count));
  plus(whole);
  return true;
}

bool RunSums::add_cut(const ElementRun& one, std::span<const Move> moves) {
  if (moves.empty()) return add_cut_along(one, {});
  if (moves.size() == 1) return add_cut_along(one, moves.front());
  const Move& outer = moves.front();
  for (std::int64_t i = outer.first; i < outer.first + outer.count; ++i)
    if (!step() || !add_cut({one.first + i * outer.distance, one.count}, moves.subspan(1)))
      return false;
  return true;
}

bool RunSums::add_cut_along(const ElementRun& one, const Move& move) {
  const std::int64_t by = move.distance, stop = move.first + move.count;
  // Places [inside, outside) of the move take the run where nothing of it is cut off.
  std::int64_t inside = move.first, outside = move.first;
  if (by > 0) {
    inside = ceil_div(-one.first, by);
    outside = floor_div(elements_ - one.count - one.first, by) + 1;
  } else if (by < 0) {
    inside = ceil_div(one.first + one.count - elements_, -by);
    outside = floor_div(one.first, -by) + 1;
  }
  inside = std::clamp(inside, move.first, stop);
  outside = std::clamp(outside, inside, stop);
  if (outside > inside)
    plus(times(run(one.first + inside * by, one.count), series(by, outside - inside)));
  const auto add_part = [&](std::int64_t place) {
    const std::int64_t first = std::max<std::int64_t>(0, one.first + place * by);
    const std::int64_t end = std::min(elements_, one.first + place * by + one.count);
    if (end > first) plus(run(first, end - first));
    return end > first;
  };
  if (by == 0) {
    for (std::int64_t place = move.first; place < stop; ++place) {
      if (!step()) return false;
      static_cast<void>(add_part(place));
    }
    return true;
  }
  // Beside them come those of which a part is left, then those of which nothing is.
  for (std::int64_t place = inside - 1; place >= move.first; --place) {
    if (!step()) return false;
    if (!add_part(place)) break;
  }
  for (std::int64_t place = outside; place < stop; ++place) {
    if (!step()) return false;
    if (!add_part(place)) break;
  }
  return true;
}

std::uint64_t RunSums::of_rows(const WrittenRows& declared) const {
  if (declared.length == 0) return run(0, elements_);
  const auto length = static_cast<std::int64_t>(declared.length);
  const auto used = static_cast<std::int64_t>(declared.used);
  const std::int64_t rows = elements_ / length;
  const std::uint64_t whole = times(run(0, used), series(length, rows));
  const std::uint64_t rest = run(rows * length, std::min(used, elements_ - rows * length));
  return (whole + rest) % kPrime;
}

}  // namespace membound::harness
