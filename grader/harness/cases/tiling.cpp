// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/tiling.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>

#include "grader/harness/cases/element_sets.hpp"

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

  /// Tiling::expect() of this block.
  std::optional<Tiling> expect(std::uint64_t block, const Sample& sample) {
    const Footprint* const shape = show(block);
    if (shape == nullptr || shape->empty() || blocks_ < 2 || tiling_.axes_.size() > 2)
      return std::nullopt;
    const std::int64_t wide = shape->front().count;
    const std::int64_t pitch = shape->size() > 1 ? (*shape)[1].first - shape->front().first : 0;
    const std::int64_t down = pitch * static_cast<std::int64_t>(shape->size());
    if (tiling_.axes_.size() == 2) {
      tiling_.axes_[0].move = wide;
      tiling_.axes_[1].move = down;
      return confirmed(*shape, block, sample);
    }
    tiling_.axes_[0].move = wide;
    if (auto found = confirmed(*shape, block, sample)) return found;
    const auto length = static_cast<std::uint64_t>((pitch + wide - 1) / wide);
    if (length < 2 || length >= blocks_ || blocks_ % length != 0) return std::nullopt;
    tiling_.axes_ = {{.stride = 1, .extent = length, .move = wide},
                     {.stride = length, .extent = blocks_ / length, .move = down}};
    return confirmed(*shape, block, sample);
  }

  std::optional<Tiling> find() {
    if (tiling_.axes_.size() > 1)
      return fit() || (!failed_ && fit_in_turns()) ? std::optional(tiling_) : std::nullopt;
    const std::vector<Axis> line = tiling_.axes_;
    if (const std::uint64_t length = row_length_of_pitch()) {
      tiling_.axes_ = {{1, length}, {length, blocks_ / length}};
      if (fit()) return tiling_;
      tiling_.axes_ = line;
      tiling_.shapes_.clear();
    }
    if (failed_) return std::nullopt;
    if (find_stretches(true) && holds()) return tiling_;
    if (failed_) return std::nullopt;
    const std::vector<std::uint64_t> lengths = row_lengths();
    tiling_.stretches_.clear();
    for (const std::uint64_t length : lengths) {
      tiling_.axes_ = {{1, length}, {length, blocks_ / length}};
      if (fit()) return tiling_;
    }
    tiling_.axes_ = line;
    tiling_.shapes_.clear();
    return !failed_ && find_stretches(false) && holds() ? std::optional(tiling_) : std::nullopt;
  }

 private:
  const Footprint* show(std::uint64_t block) {
    const auto [found, is_new] = shown_.try_emplace(block);
    if (is_new) {
      std::optional<Footprint> footprint = show_(std::span(&block, 1));
      failed_ = failed_ || !footprint;
      if (footprint) found->second = *std::move(footprint);
    }
    return failed_ ? nullptr : &found->second;
  }

  /// Stretch by stretch: how far one goes is found by halving. `unless_rows`: not where the first
  /// one may be a row of tiles.
  bool find_stretches(bool unless_rows) {
    constexpr std::size_t kMost = 8;
    tiling_.stretches_.clear();
    for (std::uint64_t first = 0; first < blocks_;) {
      if (tiling_.stretches_.size() == kMost) return false;
      const Footprint* const shape = show(first);
      if (shape == nullptr) return false;
      Stretch stretch{first, first, *shape, std::vector<std::int64_t>(shape->size(), 0)};
      if (!go_on_as_before(stretch) && first + 1 < blocks_) {
        const Footprint* const next = show(first + 1);
        if (next == nullptr) return false;
        if (set_moves(*next, stretch)) stretch.last = end_of(stretch, first + 1);
      }
      if (failed_) return false;
      first = stretch.last + 1;
      tiling_.stretches_.push_back(std::move(stretch));
      if (unless_rows && !row_lengths().empty()) return false;
    }
    return true;
  }

  /// What is left of the runs of the stretch before, moved on as there, if more than one block is.
  bool go_on_as_before(Stretch& stretch) {
    if (tiling_.stretches_.empty()) return false;
    const Stretch& before = tiling_.stretches_.back();
    const auto steps = static_cast<std::int64_t>(stretch.first - before.first);
    std::size_t run = 0;
    for (std::size_t i = 0; i < stretch.shape.size(); ++i, ++run) {
      while (run < before.shape.size() &&
             before.shape[run].first + steps * before.moves[run] != stretch.shape[i].first)
        ++run;
      if (run == before.shape.size()) return false;
      stretch.moves[i] = before.moves[run];
    }
    stretch.last = end_of(stretch, stretch.first);
    return stretch.last > stretch.first;
  }

  /// From its first block to the next; false: they are not alike.
  bool set_moves(const Footprint& next, Stretch& stretch) const {
    const Footprint& shape = stretch.shape;
    if (const auto by = distance(shape, next, tiling_.elements_)) {
      std::ranges::fill(stretch.moves, *by);
      return true;
    }
    if (next.size() != shape.size()) return shape.empty() && next.empty();
    for (std::size_t i = 0; i < shape.size(); ++i)
      stretch.moves[i] = next[i].first - shape[i].first;
    return stretch.of(stretch.first + 1, tiling_.elements_) == next;
  }

  /// Its last block, where all up to `in` are known to be of it.
  std::uint64_t end_of(const Stretch& stretch, std::uint64_t in) {
    const auto holds_for = [&](std::uint64_t block) {
      const Footprint* const is = show(block);
      return is != nullptr && *is == stretch.of(block, tiling_.elements_);
    };
    std::uint64_t out = blocks_;
    for (const std::uint64_t block : places_to_look(stretch)) {
      if (block <= in) continue;
      if (holds_for(block)) {
        in = block;
        continue;
      }
      out = block;
      break;
    }
    if (out == blocks_) return blocks_ - 1;
    // Most end at the last block from which nothing is cut off.
    if (out - in > 1 && holds_for(out - 1)) return out - 1;
    if (in == stretch.first && !holds_for(in + 1)) return in;
    while (out - in > 1 && !failed_) {
      const std::uint64_t middle = in + (out - in) / 2;
      (holds_for(middle) ? in : out) = middle;
    }
    return in;
  }

  /// Where a stretch may end without the last block's telling: at blocks whose runs, moved so far,
  /// would be cut off at an end of the array. In order, the last block at the end.
  [[nodiscard]] std::vector<std::uint64_t> places_to_look(const Stretch& stretch) const {
    constexpr std::size_t kMost = 16;
    std::vector<std::uint64_t> blocks;
    for (std::size_t i = 0; i < stretch.shape.size() && blocks.size() < kMost; ++i) {
      const auto& [first, count] = stretch.shape[i];
      const std::int64_t by = stretch.moves[i];
      if (by == 0) continue;
      const std::int64_t room = by > 0 ? tiling_.elements_ - count - first : first;
      const std::uint64_t block =
          stretch.first + static_cast<std::uint64_t>(room / std::abs(by)) + 1;
      if (room >= 0 && block < blocks_) blocks.push_back(block);
    }
    blocks.push_back(blocks_ - 1);
    std::ranges::sort(blocks);
    return blocks;
  }

  /// Rows that begin at any of the places of a line, in turns.
  bool fit_in_turns() {
    constexpr std::uint64_t kTurns = 32;
    Axis rows = tiling_.axes_.back();
    if (effort_.is_sparing || rows.extent % kTurns != 0 || rows.extent < 4 * kTurns) return false;
    tiling_.axes_.back() = {rows.stride, kTurns, true};
    tiling_.axes_.push_back({rows.stride * kTurns, rows.extent / kTurns});
    return fit();
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
      const std::uint64_t between = axis.between();
      if (between == 0) continue;
      axis.from = attempt == 0 ? 1 : attempt == 1 ? 1 + between / 2 : between;
      from += axis.from * axis.stride;
    }
    const Footprint* const shape = show(from);
    if (shape == nullptr || shape->empty()) return false;
    bool all_move = true;
    for (Axis& axis : tiling_.axes_) {
      all_move = all_move && axis.between() > 1;
      if (axis.between() <= 1) continue;
      const bool up = axis.from < axis.between();
      const Footprint* const next = show(up ? from + axis.stride : from - axis.stride);
      if (next == nullptr) return false;
      const auto by = distance(*shape, *next, tiling_.elements_);
      if (!by) return false;
      axis.move = up ? *by : -*by;
    }
    return show_classes({effort_.is_sparing && all_move ? shape : nullptr, from});
  }

  /// A block that others are like, and whether the first and the last are, too.
  struct Like {
    const Footprint* shape = nullptr;  ///< null: none is
    std::uint64_t block = 0;
    bool corners = false;
  };

  /// The shape of each class: that of `like`, moved, or one of its blocks is shown.
  bool show_classes(const Like& like) {
    tiling_.shapes_.clear();
    const std::size_t axes = tiling_.axes_.size();
    std::vector<int> kinds(axes, 0);
    for (bool more = true; more;) {
      std::uint64_t block = 0;
      std::int64_t by = 0;
      bool exists = true, is_corner = true;
      for (std::size_t i = 0; i < axes && exists; ++i) {
        const Axis& axis = tiling_.axes_[i];
        const auto at = axis.one_of(kinds[i]);
        exists = at.has_value();
        if (!exists) break;
        is_corner = is_corner && (kinds[0] == 0 ? kinds[i] == 0 : *at + 1 == axis.extent);
        block += *at * axis.stride;
        by += axis.move * (static_cast<std::int64_t>(*at) -
                           static_cast<std::int64_t>(axis.coordinate(like.block)));
      }
      const int number = tiling_.class_of(block);
      if (exists && like.shape != nullptr && (like.corners || !is_corner)) {
        tiling_.shapes_[number] = moved(*like.shape, by, tiling_.elements_);
      } else if (exists) {
        const Footprint* const shape = show(block);
        if (shape == nullptr) return false;
        tiling_.shapes_[number] = *shape;
      }
      more = false;
      for (std::size_t i = 0; i < axes && !more; ++i) {
        more = ++kinds[i] < tiling_.axes_[i].kinds();
        if (!more) kinds[i] = 0;
      }
    }
    return true;
  }

  /// With the axes as they are, where all blocks are like this one.
  std::optional<Tiling> confirmed(const Footprint& shape, std::uint64_t block,
                                  const Sample& sample) {
    for (Axis& axis : tiling_.axes_) axis.from = axis.between() > 0 ? 1 : 0;
    if (!show_classes({&shape, block, true}) || !sample.confirms(tiling_)) return std::nullopt;
    std::vector<std::uint64_t> blocks;
    for (int i = 0; i < effort_.tries; ++i)
      blocks.push_back(random_number(seed_, static_cast<std::uint64_t>(i)) % blocks_);
    for (const std::uint64_t end : {std::uint64_t{0}, blocks_ - 1})
      if (!sample.has(end)) blocks.push_back(end);
    return holds_for_all(blocks) ? std::optional(tiling_) : std::nullopt;
  }

  /// For blocks that were not asked to find the rule.
  bool holds() { return holds_for_all(blocks_to_try()); }

  /// Where there is no rule most blocks say so: the first two alone.
  bool holds_for_all(std::span<const std::uint64_t> blocks) {
    for (int i = 0; i < 2 && !blocks.empty(); ++i, blocks = blocks.subspan(1))
      if (!holds_for(blocks.first(1))) return false;
    return holds_for(blocks);
  }

  /// Those drawn at random, and where rules end.
  [[nodiscard]] std::vector<std::uint64_t> blocks_to_try() const {
    std::vector<std::uint64_t> blocks;
    for (int i = 0; i < effort_.tries; ++i)
      blocks.push_back(random_number(seed_, static_cast<std::uint64_t>(i)) % blocks_);
    if (effort_.is_sparing) return blocks;
    for (const Axis& axis : tiling_.axes_)
      for (const std::uint64_t at : {std::uint64_t{2}, axis.extent - 2})
        if (at < axis.extent) blocks.push_back(at * axis.stride);
    // Where a number of 8, 16, … bits is full, and one before it.
    for (std::uint64_t power = 256; power < blocks_; power *= 4)
      for (const std::uint64_t block : {power - 1, power}) blocks.push_back(block);
    return blocks;
  }

  /// All run together, because to begin a run costs more than most blocks. Two of them that had
  /// each other's places would together have all of them, too.
  bool holds_for(std::span<const std::uint64_t> blocks) {
    std::vector<std::uint64_t> fresh;
    std::vector<ElementRun> runs;
    for (const std::uint64_t block : blocks) {
      const Footprint of_rule = tiling_.of_tile(block);
      if (const auto known = shown_.find(block); known != shown_.end()) {
        if (known->second != of_rule) return false;
        continue;
      }
      fresh.push_back(block);
      runs.insert(runs.end(), of_rule.begin(), of_rule.end());
    }
    if (fresh.empty()) return true;
    std::ranges::sort(fresh);
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    const std::optional<Footprint> are = show_(fresh);
    failed_ = failed_ || !are;
    if (are && fresh.size() == 1) shown_[fresh.front()] = *are;
    return are && *are == united(std::move(runs));
  }

  /// What the first two blocks say of a matrix: how far its rows lie apart, and how many tiles a
  /// row (or a column, where tiles go down) then has. 0: nothing. To halve takes many more blocks.
  std::uint64_t row_length_of_pitch() {
    if (blocks_ < 4) return 0;
    const Footprint* const tile = show(0);
    const Footprint* const next = tile == nullptr ? nullptr : show(1);
    if (next == nullptr || tile->size() < 2) return 0;
    const std::int64_t pitch = (*tile)[1].first - (*tile)[0].first;
    const std::int64_t by = distance(*tile, *next, tiling_.elements_).value_or(0);
    if (by <= 0) return 0;
    const std::int64_t all = by < pitch ? pitch : tiling_.elements_;
    const auto length = static_cast<std::uint64_t>((all + by - 1) / by);
    return length > 1 && length < blocks_ && blocks_ % length == 0 ? length : 0;
  }

  /// Lengths that a row of tiles may have, where block numbers go along rows: as far as the first
  /// stretch goes, or one more, for a row's last tile may be cut off.
  [[nodiscard]] std::vector<std::uint64_t> row_lengths() const {
    std::vector<std::uint64_t> lengths;
    if (tiling_.stretches_.empty()) return lengths;
    const std::uint64_t last = tiling_.stretches_.front().last;
    for (const std::uint64_t length : {last + 1, last + 2})
      if (length > 1 && length < blocks_ && blocks_ % length == 0) lengths.push_back(length);
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
  bool failed = false;
  for (const Order order : {Order::kAsLaunched, Order::kDiagonalsOfRows, Order::kDiagonals}) {
    if (order != Order::kAsLaunched && (grid[0] < 3 || grid[1] < 3 || grid[2] > 1)) break;
    const Numbering numbering{order, grid[0], grid[1]};
    const Show show_tiles = [&](std::span<const std::uint64_t> tiles) {
      std::vector<std::uint64_t> blocks;
      for (const std::uint64_t tile : tiles) blocks.push_back(numbering.launched(tile));
      auto footprint = show(blocks);
      failed = failed || !footprint;
      return footprint;
    };
    if (auto found = Finder(grid, elements, seed, effort, show_tiles).find()) {
      found->numbering_ = numbering;
      return found;
    }
    if (failed) break;
  }
  return std::nullopt;
}

std::optional<Tiling> Tiling::expect(const Grid& grid, std::int64_t elements, std::uint64_t seed,
                                     const Effort& effort, const Show& show, std::uint64_t block,
                                     const Sample& sample) {
  if (grid[0] * grid[1] * grid[2] == 0) return std::nullopt;
  return Finder(grid, elements, seed, effort, show).expect(block, sample);
}

std::uint64_t Tiling::Numbering::tile(std::uint64_t launched) const {
  if (order == Order::kAsLaunched) return launched;
  const bool by_rows = order == Order::kDiagonalsOfRows;
  const std::uint64_t y = by_rows ? launched / width : launched % height;
  const std::uint64_t x = (by_rows ? launched % width : launched / height) + y;
  return x % width + y * width;
}

std::uint64_t Tiling::Numbering::launched(std::uint64_t tile) const {
  if (order == Order::kAsLaunched) return tile;
  const std::uint64_t y = tile / width, x = (tile % width + width - y % width) % width;
  return order == Order::kDiagonalsOfRows ? x + y * width : y + x * height;
}

int Tiling::Axis::kind(std::uint64_t coordinate) const {
  if (has_all) return static_cast<int>(coordinate);
  if (coordinate == 0) return 0;
  if (coordinate + 1 == extent) return 2;
  return extent > 3 && coordinate + 2 == extent ? 3 : kBetween;
}

std::optional<std::uint64_t> Tiling::Axis::one_of(int kind) const {
  if (has_all) return static_cast<std::uint64_t>(kind);
  if (kind == 0) return 0;
  if (kind == kBetween) return between() > 0 ? std::optional(from) : std::nullopt;
  if (kind == 2) return extent > 1 ? std::optional(extent - 1) : std::nullopt;
  return extent > 3 ? std::optional(extent - 2) : std::nullopt;
}

Footprint Tiling::Stretch::of(std::uint64_t block, std::int64_t elements) const {
  const auto steps = static_cast<std::int64_t>(block - first);
  std::vector<ElementRun> runs;
  for (std::size_t i = 0; i < shape.size(); ++i)
    for (const ElementRun& run : moved({shape[i]}, moves[i] * steps, elements)) runs.push_back(run);
  return united(std::move(runs));
}

int Tiling::class_of(std::uint64_t block) const {
  int number = 0;
  for (const Axis& axis : axes_) number = number * axis.kinds() + axis.kind(axis.coordinate(block));
  return number;
}

Footprint Tiling::of(std::uint64_t block) const { return of_tile(numbering_.tile(block)); }

Footprint Tiling::of_tile(std::uint64_t block) const {
  if (!stretches_.empty()) {
    const auto behind = std::ranges::upper_bound(stretches_, block, {}, &Stretch::first);
    return std::prev(behind)->of(block, elements_);
  }
  std::int64_t by = 0;
  for (const Axis& axis : axes_) {
    const std::uint64_t at = axis.coordinate(block);
    if (!axis.has_all && axis.kind(at) == Axis::kBetween)
      by += axis.move * (static_cast<std::int64_t>(at) - static_cast<std::int64_t>(axis.from));
  }
  return moved(shapes_.at(class_of(block)), by, elements_);
}

bool Tiling::add_classes(RunSums& sums) const {
  for (const auto& [number, shape] : shapes_) {
    std::vector<RunSums::Move> moves;
    int digits = number;
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      if (!axis->has_all && digits % axis->kinds() == Axis::kBetween)
        moves.push_back({axis->move, 1 - static_cast<std::int64_t>(axis->from),
                         static_cast<std::int64_t>(axis->between())});
      digits /= axis->kinds();
    }
    if (!sums.add(shape, moves)) return false;
  }
  return true;
}

bool Tiling::has_each_once(const WrittenRows& declared, std::uint64_t seed) const {
  constexpr std::uint64_t kMostSteps = 500'000, kPoints = 3;
  for (std::uint64_t i = 0; i < kPoints; ++i) {
    RunSums sums(random_number(~seed, i), elements_, kMostSteps);
    for (const Stretch& stretch : stretches_)
      for (std::size_t run = 0; run < stretch.shape.size(); ++run) {
        const auto blocks = static_cast<std::int64_t>(stretch.last - stretch.first + 1);
        if (!sums.add(std::span(&stretch.shape[run], 1), {{stretch.moves[run], 0, blocks}}))
          return false;
      }
    if (stretches_.empty() && !add_classes(sums)) return false;
    if (sums.value() != sums.of_rows(declared)) return false;
  }
  return true;
}

}  // namespace membound::harness
