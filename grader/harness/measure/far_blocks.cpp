// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Single blocks of a launch at a size that only a look at some of them can reach: whether far
/// positions are lost.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/harness/cases/element_sets.hpp"
#include "grader/harness/cases/tiling.hpp"
#include "grader/harness/measure/coverage.hpp"
#include "grader/harness/measure/whole_run.hpp"

namespace membound::harness {
namespace {

/// Warp instructions that are run at most, of one block or two.
constexpr std::uint64_t kFarInstructions = std::uint64_t{1} << 24;
/// Of blocks that take more, one between the ends runs whole, and the others show by their slices
/// which places they have: in lab 06 nine whole blocks were half of a check.
constexpr std::uint64_t kLongInstructions = std::uint64_t{1} << 18;
/// Elements of a block that has more than its part of a grid that is as large as the array.
constexpr std::int64_t kManyElements = std::int64_t{1} << 20;
/// Blocks between the ends: where a position of 32 bits has its sign set, and at random. Fewer
/// where they have more elements together.
constexpr std::uint64_t kBetween = 8;
constexpr std::size_t kFewestCounts = 5;  ///< blocks of which half say something of most
constexpr std::int64_t kElementsBetween = std::int64_t{1} << 16;
constexpr std::int64_t kPlacesOf32Bits = std::int64_t{1} << 32;

/// The launch with most blocks of a plan: it is the one that walks over the array.
ReadyLaunch largest_launch(const ReadyLaunch& plan) {
  ReadyLaunch one = plan;
  const auto blocks = [](const ReadyStep& step) {
    const PlanExtent& grid = step.shape.grid;
    return static_cast<double>(grid.x) * static_cast<double>(grid.y) * static_cast<double>(grid.z);
  };
  const auto largest = std::max_element(
      plan.steps.begin(), plan.steps.end(),
      [&](const ReadyStep& a, const ReadyStep& b) { return blocks(a) < blocks(b); });
  if (largest != plan.steps.end()) one.steps = {*largest};
  return one;
}

std::string in_groups(std::int64_t value) { return grouped(static_cast<std::uint64_t>(value)); }

/// Elements that both have, and the first of them.
std::pair<std::int64_t, std::int64_t> common(const Footprint& a, const Footprint& b) {
  std::int64_t count = 0, first = -1;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t from = std::max(a[i].first, b[j].first);
    const std::int64_t a_end = a[i].first + a[i].count, b_end = b[j].first + b[j].count;
    if (const std::int64_t to = std::min(a_end, b_end); from < to) {
      if (first < 0) first = from;
      count += to - from;
    }
    ++(a_end < b_end ? i : j);
  }
  return {count, first};
}

/// One case.
class FarBlocks {
 public:
  FarBlocks(const BenchParts& parts, const TimingRequest& request, const ReadyLaunch& student)
      : timed_(request.timed_case),
        seed_(request.seed),
        seeds_(parts.seeds),
        is_plan_(student.steps.size() > 1),
        run_(parts, request, largest_launch(student)) {
    of_read_ = static_cast<bool>(timed_.expected_of_read);
    elements_ = static_cast<std::int64_t>(of_read_ ? timed_.inputs.front().count
                                                   : timed_.written.count_of(timed_.output.count));
  }

  std::string find() {
    if (!of_read_ && (!timed_.expected_by_place || is_plan_)) return "";
    if (run_.launches() == 0) return "nothing is launched";
    const auto blocks = static_cast<std::int64_t>(run_.blocks());
    // Not the last, which may have a rest alone.
    const std::uint64_t far = run_.blocks() - std::min<std::uint64_t>(2, run_.blocks());
    const auto usual = look({far, 1});
    if (!usual) return problem_;
    most_ = elements_of(*usual);
    counts_ = {most_};
    if (most_ <= kManyElements && blocks > 2 &&
        (!look_where_32_bits_begin_again(far, *usual) || !look_between()))
      return problem_;
    if (most_ > 0 && most_ <= elements_ / blocks / 2)
      problem_ = "its " + in_groups(blocks) + " blocks have " + in_groups(most_) +
                 (of_read_ ? " elements of the input each, " : " elements of the output each, ") +
                 "which together is less than half of " + in_groups(elements_);
    else
      compare_counts();
    return problem_;
  }

 private:
  [[nodiscard]] const char* verb() const { return of_read_ ? "read" : "write"; }

  /// What these blocks have. Nothing: something is wrong, and `problem_` says what, or they cannot
  /// be run alone.
  std::optional<Footprint> look(const BlockRange& range) {
    const BlockRange limited{range.first, range.count, kFarInstructions};
    run_.clear_scratch();
    const PartsRun::Ran ran =
        of_read_ ? run_.run_range_to_read(limited) : run_.run_range(seed_, limited);
    if (!ran.not_run.empty()) return std::nullopt;
    takes_long_ = takes_long_ || ran.warp_instructions > kLongInstructions * range.count;
    Footprint footprint;
    const auto see = [&](std::size_t first, std::size_t count) {
      append(footprint, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    };
    if (of_read_) {
      run_.each_read(see);
      return footprint;
    }
    const WrittenPart part = run_.compare_sample(seed_, see);
    if (part.difference.wrong == 0) return footprint;
    problem_ = "block " + in_groups(static_cast<std::int64_t>(range.first)) + " of " +
               in_groups(static_cast<std::int64_t>(run_.blocks())) + " leaves " + part.got +
               " instead of " + part.expected + " in element " +
               in_groups(static_cast<std::int64_t>(part.difference.first)) + " of the output";
    return std::nullopt;
  }

  /// What this block has, by what decides where it writes. Nothing: that cannot run by itself.
  std::optional<Footprint> look_at_places(std::uint64_t block) {
    if (of_read_ || !takes_long_) return std::nullopt;
    run_.clear_scratch();
    const PartsRun::Ran ran = run_.run_range(
        seed_,
        {.first = block, .count = 1, .most_instructions = kFarInstructions, .slice_step = 1});
    if (!ran.not_run.empty()) return std::nullopt;
    Footprint footprint;
    run_.each_written_run([&](std::size_t first, std::size_t count) {
      append(footprint, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
    });
    return footprint;
  }

  /// Where positions are rounded, most blocks have a part of what those near the start have. Blocks
  /// at edges are few.
  void compare_counts() {
    std::ranges::sort(counts_);
    const std::int64_t half_have = counts_[counts_.size() / 2];
    const bool some_are_spare = counts_.front() == 0;  // as in a grid that is too large
    if (counts_.size() < kFewestCounts || some_are_spare || 2 * half_have > most_) return;
    problem_ = "of " + std::to_string(counts_.size()) + " blocks half " + verb() + " at most " +
               in_groups(half_have) + " elements each, and one " + verb() + "s " +
               in_groups(most_) + ": positions are lost on the way to the last element";
  }

  /// A position of 32 bits is the same again 2^32 elements further on.
  bool look_where_32_bits_begin_again(std::uint64_t block, const Footprint& usual) {
    const std::int64_t each = elements_of(usual);
    if (each == 0 || kPlacesOf32Bits / each > static_cast<std::int64_t>(block)) return true;
    const std::uint64_t other = block - static_cast<std::uint64_t>(kPlacesOf32Bits / each);
    const auto there = look({other - std::min<std::uint64_t>(1, other), 2});
    if (!there) return false;
    const auto [both, first] = common(usual, *there);
    // Tiles may overlap, and chunks of an input are read by neighbours.
    if (2 * both <= each) return true;
    problem_ = "blocks " + in_groups(static_cast<std::int64_t>(other)) + " and " +
               in_groups(static_cast<std::int64_t>(block)) + " of " +
               in_groups(static_cast<std::int64_t>(run_.blocks())) + " " + verb() +
               " the same elements, from element " + in_groups(first) + " on";
    return false;
  }

  bool look_between() {
    const std::uint64_t blocks = run_.blocks();
    const auto looks =
        static_cast<std::uint64_t>(kElementsBetween / std::max<std::int64_t>(1, most_));
    for (std::uint64_t i = 0; i < std::clamp<std::uint64_t>(looks, 1, kBetween); ++i) {
      const std::uint64_t block = i == 0   ? blocks / 8 * 5
                                  : i == 1 ? blocks / 8 * 7
                                           : seeds_.derive(seed_, i) % blocks;
      auto footprint = i == 0 ? std::nullopt : look_at_places(block);
      if (!footprint) footprint = look({block, 1});
      if (!footprint) return false;
      counts_.push_back(elements_of(*footprint));
      most_ = std::max(most_, counts_.back());
      // Each is needed where all have as much as the largest that was seen.
      const bool needed = static_cast<double>(most_) * static_cast<double>(blocks - 1) <
                          static_cast<double>(elements_);
      if (!footprint->empty() || !needed || block + 1 == blocks) continue;
      problem_ = "block " + in_groups(static_cast<std::int64_t>(block)) + " of " +
                 in_groups(static_cast<std::int64_t>(blocks)) + " " + verb() + "s no element";
      problem_ += most_ == 0
                      ? ", and neither does any other that was looked at"
                      : "; the others " + std::string(verb()) + " at most " + in_groups(most_) +
                            " each, too few to reach element " + in_groups(elements_ - 1);
      return false;
    }
    return true;
  }

  const TimedCase& timed_;
  std::uint64_t seed_;
  const Seeds& seeds_;
  bool is_plan_;
  PartsRun run_;
  bool of_read_ = false;
  std::int64_t elements_ = 0;
  std::int64_t most_ = 0;             ///< elements of a block that was seen
  std::vector<std::int64_t> counts_;  ///< of each that was
  bool takes_long_ = false;
  std::string problem_;
};

}  // namespace

std::string find_wrong_place(const BenchParts& parts, const TimingRequest& request,
                             const ReadyLaunch& student) {
  return FarBlocks(parts, request, student).find();
}

}  // namespace membound::harness
