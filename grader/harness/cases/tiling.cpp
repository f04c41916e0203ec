// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/tiling.hpp"

#include <algorithm>

#include "grader/harness/cases/run_sums.hpp"

namespace membound::harness {
namespace {

/// SplitMix64.
std::uint64_t random_number(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Moved, and cut off at the ends of an array of so many elements.
Footprint moved(const Footprint& shape, std::int64_t by, std::int64_t elements) {
  Footprint all;
  for (const ElementRun& run : shape) {
    const std::int64_t first = std::max<std::int64_t>(0, run.first + by);
    const std::int64_t end = std::min(elements, run.first + by + run.count);
    if (end > first) append(all, first, end - first);
  }
  return all;
}

/// How far `to` is from `from`, where it has the same shape but for what is cut off.
std::optional<std::int64_t> distance(const Footprint& from, const Footprint& to,
                                     std::int64_t elements) {
  if (from.empty() || to.empty()) return std::nullopt;
  const auto end = [](const Footprint& all) { return all.back().first + all.back().count; };
  for (const std::int64_t by : {to.front().first - from.front().first, end(to) - end(from)})
    if (moved(from, by, elements) == to) return by;
  return std::nullopt;
}

}  // namespace

void append(Footprint& footprint, std::int64_t first, std::int64_t count) {
  if (count <= 0) return;
  if (!footprint.empty() && footprint.back().first + footprint.back().count == first)
    footprint.back().count += count;
  else
    footprint.push_back({first, count});
}

Footprint united(std::vector<ElementRun> runs) {
  std::ranges::sort(runs, {}, &ElementRun::first);
  Footprint all;
  for (const ElementRun& run : runs) {
    const std::int64_t end = all.empty() ? run.first : all.back().first + all.back().count;
    const std::int64_t first = std::max(run.first, std::min(end, run.first + run.count));
    append(all, first, run.first + run.count - first);
  }
  return all;
}

std::int64_t elements_of(const Footprint& footprint) {
  std::int64_t count = 0;
  for (const ElementRun& run : footprint) count += run.count;
  return count;
}

/// Looks for the rule, axis by axis.
class Tiling::Finder {
 public:
  Finder(const Grid& grid, std::int64_t elements, std::uint64_t seed, const Effort& effort,
         const Show& show)
      : blocks_(grid[0] * grid[1] * grid[2]), seed_(seed), effort_(effort), show_(show) {
    tiling_.elements_ = elements;
    std::uint64_t stride = 1;
    for (const std::uint64_t extent : grid) {
      if (extent > 1) tiling_.axes_.push_back({stride, extent});
      stride *= extent;
    }
  }

  std::optional<Tiling> find() {
    if (fit()) return tiling_;
    if (failed_ || tiling_.axes_.size() != 1) return std::nullopt;
    for (const std::uint64_t period : periods()) {
      tiling_.axes_ = {{1, period}, {period, blocks_ / period}};
      if (fit()) return tiling_;
    }
    return std::nullopt;
  }

 private:
  const Footprint* show(std::uint64_t block) {
    const auto [found, is_new] = shown_.try_emplace(block);
    if (is_new) {
      std::optional<Footprint> footprint = show_(block);
      if (footprint) found->second = *std::move(footprint);
      failed_ = failed_ || !footprint;
    }
    return failed_ ? nullptr : &found->second;
  }

  /// With the axes as they are.
  bool fit() {
    // A block from which something is cut off shows less than the others have: another one may do.
    for (const int attempt : {0, 1, 2}) {
      if (fit_from(attempt) && holds()) return true;
      if (failed_) return false;
    }
    return false;
  }

  bool fit_from(int attempt) {
    std::uint64_t from = 0;
    for (Axis& axis : tiling_.axes_) {
      axis.move = 0;
      const std::uint64_t between = axis.extent > 2 ? axis.extent - 2 : 0;
      if (between == 0) continue;
      axis.from = attempt == 0 ? 1 : attempt == 1 ? 1 + between / 2 : between;
      from += axis.from * axis.stride;
    }
    const Footprint* const shape = show(from);
    if (shape == nullptr || shape->empty()) return false;
    bool all_move = true;
    for (Axis& axis : tiling_.axes_) {
      all_move = all_move && axis.extent > 3;
      if (axis.extent <= 3) continue;  // at most one between the ends
      const bool up = axis.from + 2 < axis.extent;
      const Footprint* const next = show(up ? from + axis.stride : from - axis.stride);
      if (next == nullptr) return false;
      const auto by = distance(*shape, *next, tiling_.elements_);
      if (!by) return false;
      axis.move = up ? *by : -*by;
    }
    return show_classes(effort_.is_sparing && all_move ? shape : nullptr);
  }

  /// A block of each class; where `all_like` is given, those in no corner are like that one.
  bool show_classes(const Footprint* all_like) {
    tiling_.shapes_.clear();
    const std::size_t axes = tiling_.axes_.size();
    std::vector<int> kinds(axes, 0);
    for (bool more = true; more;) {
      std::uint64_t block = 0;
      std::int64_t by = 0;
      bool exists = true, is_corner = true;
      for (std::size_t i = 0; i < axes; ++i) {
        const Axis& axis = tiling_.axes_[i];
        if (kinds[i] == 1 && axis.extent < 3) exists = false;
        is_corner = is_corner && kinds[i] != 1;
        const std::uint64_t at = kinds[i] == 0 ? 0 : kinds[i] == 1 ? axis.from : axis.extent - 1;
        block += at * axis.stride;
        by += axis.move * (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(axis.from));
      }
      const int number = tiling_.class_of(block);
      if (exists && all_like != nullptr && !is_corner) {
        tiling_.shapes_[number] = moved(*all_like, by, tiling_.elements_);
      } else if (exists) {
        const Footprint* const shape = show(block);
        if (shape == nullptr) return false;
        tiling_.shapes_[number] = *shape;
      }
      more = false;
      for (std::size_t i = 0; i < axes && !more; ++i) {
        more = ++kinds[i] < 3;
        if (!more) kinds[i] = 0;
      }
    }
    return true;
  }

  bool holds_at(std::uint64_t block) {
    const Footprint* const is = show(block);
    return is != nullptr && *is == tiling_.of(block);
  }

  /// For blocks that were not asked to find the rule.
  bool holds() {
    for (int i = 0; i < effort_.tries; ++i)
      if (!holds_at(random_number(seed_, static_cast<std::uint64_t>(i)) % blocks_)) return false;
    if (effort_.is_sparing) return true;
    for (const Axis& axis : tiling_.axes_)
      for (const std::uint64_t at : {std::uint64_t{2}, axis.extent - 2})
        if (at < axis.extent && !holds_at(at * axis.stride)) return false;
    // Where a number of 8, 16, … bits is full, and one before it.
    for (std::uint64_t power = 256; power < blocks_; power *= 4)
      for (const std::uint64_t block : {power - 1, power})
        if (!holds_at(block)) return false;
    return true;
  }

  /// Lengths that a row of tiles may have, where block numbers go along rows: the rule of a row's
  /// blocks holds up to there.
  std::vector<std::uint64_t> periods() {
    if (blocks_ < 8) return {};
    const Footprint* const one = show(1);
    const Footprint* const two = one == nullptr ? nullptr : show(2);
    if (two == nullptr) return {};
    const auto by = distance(*one, *two, tiling_.elements_);
    if (!by) return {2};
    const auto is_in_row = [&](std::uint64_t block) {
      const Footprint* const is = show(block);
      if (is == nullptr) return false;
      const auto far = distance(*one, *is, tiling_.elements_);
      return far && *far == *by * (static_cast<std::int64_t>(block) - 1);
    };
    std::uint64_t in = 2, out = 4;
    while (out < blocks_ && is_in_row(out)) {
      in = out;
      out *= 2;
    }
    out = std::min(out, blocks_ - 1);
    while (out - in > 1) {
      const std::uint64_t middle = in + (out - in) / 2;
      (is_in_row(middle) ? in : out) = middle;
    }
    if (failed_) return {};
    std::vector<std::uint64_t> lengths;  // the last tile of a row may be cut off
    for (const std::uint64_t length : {out, out + 1})
      if (blocks_ % length == 0 && length < blocks_) lengths.push_back(length);
    return lengths;
  }

  std::uint64_t blocks_, seed_;
  Effort effort_;
  const Show& show_;
  Tiling tiling_;
  std::map<std::uint64_t, Footprint> shown_;
  bool failed_ = false;
};

std::optional<Tiling> Tiling::find(const Grid& grid, std::int64_t elements, std::uint64_t seed,
                                   const Effort& effort, const Show& show) {
  if (grid[0] * grid[1] * grid[2] == 0) return std::nullopt;
  return Finder(grid, elements, seed, effort, show).find();
}

int Tiling::class_of(std::uint64_t block) const {
  int number = 0;
  for (const Axis& axis : axes_) number = number * 3 + axis.kind(axis.coordinate(block));
  return number;
}

Footprint Tiling::of(std::uint64_t block) const {
  std::int64_t by = 0;
  for (const Axis& axis : axes_) {
    const std::uint64_t at = axis.coordinate(block);
    if (axis.kind(at) == 1)
      by += axis.move * (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(axis.from));
  }
  return moved(shapes_.at(class_of(block)), by, elements_);
}

bool Tiling::has_each_once(const WrittenRows& declared, std::uint64_t seed) const {
  constexpr std::uint64_t kMostSteps = 500'000, kPoints = 3;
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    RunSums sums(random_number(~seed, i), elements_, kMostSteps);
    for (const auto& [number, shape] : shapes_) {
      std::vector<RunSums::Move> moves;
      int digits = number;
      for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis, digits /= 3)
        if (digits % 3 == 1)
          moves.push_back({axis->move, 1 - static_cast<std::int64_t>(axis->from),
                           static_cast<std::int64_t>(axis->extent - 2)});
      if (!sums.add(shape, moves)) return false;
    }
    if (sums.value() != sums.of_rows(declared)) return false;
  }
  return true;
}

}  // namespace membound::harness
