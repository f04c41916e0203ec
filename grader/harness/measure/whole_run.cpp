// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/whole_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grader/harness/cases/element_sets.hpp"
#include "grader/harness/cases/tiling.hpp"
#include "grader/harness/measure/coverage.hpp"

namespace membound::harness {
namespace {

constexpr std::uint64_t kFirstRanges = 64;  ///< of so many the first has what one has
constexpr std::uint64_t kRangesALook = 4;   ///< of so many one's inputs are looked at afterwards
constexpr std::uint64_t kGrowth = 4;        ///< a range has at most so many times the last one's
/// Where not all can run: of so many ranges some are drawn, at least so many that of ranges of
/// which 4 % leave out their part one is met but for once in 2,500 times. Their places are as many
/// as their part of all, but for blocks at edges.
constexpr std::uint64_t kDrawnRanges = 16384, kFewestDrawn = 192;
constexpr double kPartTolerance = 0.01;

/// One case, range by range.
class WholeRunner {
 public:
  WholeRunner(const BenchParts& parts, const TimingRequest& request, const ReadyLaunch& student,
              const WholeLimits& limits)
      : timed_(request.timed_case),
        seed_(request.seed),
        seeds_(parts.seeds),
        limits_(limits),
        run_(parts, request, student) {
    whole_.label = timed_.label;
    whole_.blocks = static_cast<std::int64_t>(run_.blocks());
    whole_.elements = static_cast<std::int64_t>(timed_.written.count_of(timed_.output.count));
  }

  WholeOutcome run() {
    if (!timed_.expected_by_place && !timed_.expected_of_read && !timed_.expected)
      give_up("nothing but the reference answer says what is right");
    else if (run_.launches() == 0)
      give_up("there is nothing to launch");
    else
      run_launch();
    tell();
    if (whole_.why_not.empty() && whole_.found.empty() && writes_variables_) run_second_launch();
    whole_.complete = whole_.why_not.empty();
    whole_.seconds = seconds();
    return {std::move(whole_), std::move(drawn_)};
  }

 private:
  void run_launch() {
    if (timed_.expected_by_place)
      run_by_ranges();
    else
      run_in_one_range();
  }

  /// Finds what the first has left in variables of the module. What it could not run to its end
  /// says nothing against the first.
  void run_second_launch() {
    constexpr std::uint64_t kSecond = 2;
    seed_ = seeds_.derive(seed_, kSecond);
    spent_ = 0;
    drawn_ranges_.clear();
    run_launch();
    whole_.why_not.clear();
    tell();
    if (!whole_.found.empty())
      whole_.found = "in the second of two launches, " + whole_.found +
                     "; the first, which writes variables of the module, was right";
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void give_up(std::string why) { whole_.why_not = std::move(why); }

  [[nodiscard]] std::uint64_t array_bytes() const {
    std::uint64_t bytes = timed_.output.size_bytes();
    for (const TimedBuffer& input : timed_.inputs) bytes += input.size_bytes();
    return bytes;
  }
  void keep_peak(std::uint64_t bytes) {
    whole_.peak_bytes = std::max(whole_.peak_bytes, static_cast<std::int64_t>(bytes));
  }
  /// These blocks of a launch; or without a number all launches, of the last these. False: they did
  /// not run, and `whole_` says why.
  bool launch(std::optional<std::size_t> number, std::uint64_t first, std::uint64_t count,
              PartsRun::Ran& ran) {
    const BlockRange blocks{first, count, limits_.instructions - spent_};
    ran = number ? run_.run_range_of(*number, seed_, blocks) : run_.run_range(seed_, blocks);
    spent_ += ran.warp_instructions;
    writes_variables_ |= ran.writes_variables;
    if (!ran.not_run.empty()) give_up(ran.not_run);
    // It costs as much as all else; which ranges are looked at the seed says.
    const bool looks = (ranges_++ + seed_) % kRangesALook == 0 || count == run_.blocks();
    if (whole_.why_not.empty() && looks && !run_.inputs_are_as_drawn(seed_) && whole_.found.empty())
      whole_.found = "the launch changed its inputs";
    return whole_.why_not.empty();
  }

  void run_by_ranges() {
    PlaceSet written(timed_.output.count);
    const bool is_large = array_bytes() > limits_.bytes;
    if (run_.launches() == 1)
      run_ranges_of(0, written);
    else if (!is_large)
      run_all_at_once(written);
    else
      for (std::size_t i = 0; i < run_.launches() && whole_.why_not.empty(); ++i)
        run_ranges_of(i, written);
    if (!whole_.why_not.empty()) return;
    if (!drawn_.empty()) return;
    const PlaceSet::Difference difference = written.difference_from(timed_.written);
    places_ = text_of(difference, timed_.written, timed_.output.count, run_.blocks());
    // Launches that each did their part without the others have done it; others prove nothing.
    if (run_.launches() > 1 && is_large && (!places_.empty() || whole_.wrong_elements > 0)) {
      whole_.wrong_elements = 0;
      whole_.first_wrong_index = -1;
      places_.clear();
      return give_up("its launches need each other, and all of them too much memory");
    }
    whole_.missing_elements = static_cast<std::int64_t>(difference.missing);
    if (difference.missing > 0)
      whole_.first_missing_index = static_cast<std::int64_t>(difference.first_missing);
  }

  /// Of one launch, in order.
  void run_ranges_of(std::size_t number, PlaceSet& written) {
    const std::uint64_t all = run_.blocks_of(number);
    std::uint64_t count = std::max<std::uint64_t>(1, all / kFirstRanges);
    for (std::uint64_t first = 0; first < all;) {
      count = std::min(count, all - first);
      PartsRun::Ran ran;
      if (!launch(number, first, count, ran)) {
        // They may learn from each other: then all at once.
        const bool has_begun = first > 0 || count == all || ran.warp_instructions > 0;
        if (has_begun || run_.launches() > 1) return;
        if (array_bytes() > limits_.bytes)
          return give_up(ran.not_run + ", and all of them need too much memory");
        whole_.why_not.clear();
        return run_all_at_once(written);
      }
      compare(written);
      keep_peak(ran.drawn_bytes + written.bytes());
      first += count;
      const double of_all =
          static_cast<double>(spent_) / static_cast<double>(first) * static_cast<double>(all);
      const bool takes_long =
          limits_.drawn_instructions != 0 && of_all > static_cast<double>(limits_.instructions);
      if (run_.launches() == 1 && takes_long && drawn_ranges_.empty() &&
          draw_ranges_tell(first, written))
        return;
      count = next_count(count, ran.drawn_bytes);
      if (spent_ >= limits_.instructions && first < all)
        return give_up("it takes more than " + grouped(limits_.instructions) +
                       " warp instructions");
    }
  }

  /// Whether ranges that are drawn after the first blocks, which have run, say what all would:
  /// something is wrong, or they write as much as is their part.
  bool draw_ranges_tell(std::uint64_t first, PlaceSet& written) {
    const std::uint64_t all = run_.blocks();
    const std::uint64_t each = std::max<std::uint64_t>(1, all / kDrawnRanges);
    for (std::uint64_t begin = first; begin < all; begin += each) drawn_ranges_.push_back(begin);
    for (std::size_t i = drawn_ranges_.size(); i > 1; --i)
      std::swap(drawn_ranges_[i - 1], drawn_ranges_[random_bits(seed_, i) % i]);
    const std::uint64_t most = std::exchange(spent_, 0) + limits_.drawn_instructions;
    std::uint64_t ranges = 0, blocks = first;
    bool fresh = true, unchanged = true;
    while (ranges < drawn_ranges_.size() && spent_ < limits_.drawn_instructions) {
      const std::uint64_t begin = drawn_ranges_[ranges++];
      const BlockRange range{begin, std::min(each, all - begin), most};
      const PartsRun::Ran ran =
          fresh ? run_.run_range(seed_, range) : run_.run_ranges_again(std::span(&range, 1));
      spent_ += ran.warp_instructions;
      writes_variables_ |= ran.writes_variables;
      if (!ran.not_run.empty()) return false;
      compare(written);
      keep_peak(ran.drawn_bytes + written.bytes());
      blocks += range.count;
      fresh = 4 * ran.drawn_bytes > limits_.bytes;
      if (fresh) unchanged = unchanged && run_.inputs_are_as_drawn(seed_);
    }
    unchanged = unchanged && run_.inputs_are_as_drawn(seed_);
    if (!unchanged && whole_.found.empty()) whole_.found = "the launch changed its inputs";
    spent_ = 0;
    const double part = static_cast<double>(whole_.elements) * static_cast<double>(blocks) /
                        static_cast<double>(all);
    const bool is_their_part =
        std::abs(static_cast<double>(written.count()) - part) <= kPartTolerance * part;
    if (ranges < std::min<std::uint64_t>(kFewestDrawn, drawn_ranges_.size())) return false;
    if (whole_.wrong_elements == 0 && unchanged && !is_their_part) return false;
    drawn_ = grouped(blocks) + " of " + grouped(all) + " blocks";
    return true;
  }

  void run_all_at_once(PlaceSet& written) {
    PartsRun::Ran ran;
    if (!launch(std::nullopt, 0, run_.blocks(), ran)) return;
    compare(written);
    keep_peak(ran.drawn_bytes + written.bytes());
  }

  /// Blocks of the range after one of `count` that has touched so many bytes.
  [[nodiscard]] std::uint64_t next_count(std::uint64_t count, std::uint64_t bytes) const {
    const double fits = static_cast<double>(limits_.bytes) / 4 /
                        static_cast<double>(std::max<std::uint64_t>(1, bytes));
    const double wanted = static_cast<double>(count) * std::min(fits, double{kGrowth});
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  }

  void compare(PlaceSet& written) {
    const WrittenPart part = run_.compare_sample(
        seed_, [&](std::size_t first, std::size_t count) { written.add(first, count); });
    take(part.difference, part.expected, part.got);
  }

  void take(const Difference& difference, const std::string& expected, const std::string& got) {
    if (difference.wrong == 0) return;
    const auto first = static_cast<std::int64_t>(difference.first);
    if (whole_.wrong_elements == 0 || first < whole_.first_wrong_index) {
      whole_.first_wrong_index = first;
      whole_.expected = expected;
      whole_.got = got;
    }
    whole_.wrong_elements += static_cast<std::int64_t>(difference.wrong);
  }

  /// The output is small, or nobody knows a place's value alone.
  void run_in_one_range() {
    if (!timed_.expected_of_read && array_bytes() > limits_.bytes / 4)
      return give_up("its right answer needs too much memory");
    if (array_bytes() > 2 * limits_.bytes) return give_up("it needs too much memory");
    PartsRun::Ran ran;
    if (!launch(std::nullopt, 0, run_.blocks(), ran)) return;
    keep_peak(ran.drawn_bytes);
    const HostArray got = run_.output();
    const HostArray right = expected();
    const Difference difference = difference_of(timed_.output, got, right, timed_.tolerance);
    if (difference.wrong == 0) return;
    const std::size_t each = element_bytes(timed_.output.type);
    const auto at = [&](const HostArray& array) {
      return element_text(timed_.output.type,
                          std::span(array).subspan(difference.first * each, each));
    };
    take(difference, at(right), at(got));
  }

  [[nodiscard]] HostArray expected() const {
    if (timed_.expected_of_read) {
      const ElementRange all{0, timed_.inputs.front().count};
      return timed_.expected_of_read(run_.inputs(seed_), std::span(&all, 1));
    }
    return timed_.expected(run_.drawn_whole(seed_));
  }

  /// The first of what was found, in words.
  void tell() {
    if (!whole_.found.empty()) return;
    if (whole_.wrong_elements > 0)
      whole_.found = grouped(static_cast<std::uint64_t>(whole_.wrong_elements)) + " of " +
                     grouped(timed_.output.count) + " elements of the output are wrong; element " +
                     grouped(static_cast<std::uint64_t>(whole_.first_wrong_index)) + " is " +
                     whole_.got + " instead of " + whole_.expected;
    else
      whole_.found = places_;
  }

  const TimedCase& timed_;
  std::uint64_t seed_;
  const Seeds& seeds_;
  WholeLimits limits_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  PartsRun run_;
  course::WholeRun whole_;
  std::string places_, drawn_;
  std::vector<std::uint64_t> drawn_ranges_;  ///< the first block of each
  bool writes_variables_ = false;
  std::uint64_t spent_ = 0;  ///< warp instructions
  std::uint64_t ranges_ = 0;
};

}  // namespace

WholeOutcome run_whole(const BenchParts& parts, const TimingRequest& request,
                       const ReadyLaunch& student, const WholeLimits& limits) {
  return WholeRunner(parts, request, student, limits).run();
}

double least_seconds(const TimedCase& timed_case) {
  // Of a warp, an operation a lane: the virtual GPU executes about so many a second on one core.
  constexpr double kPerSecond = 32.0 * 1e8;
  return timed_case.useful_operations / kPerSecond;
}

namespace {

/// Warp instructions that are run at most, of one block or two.
constexpr std::uint64_t kFarInstructions = std::uint64_t{1} << 24;
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
      const auto footprint = look({block, 1});
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
  std::string problem_;
};

}  // namespace

std::string find_wrong_place(const BenchParts& parts, const TimingRequest& request,
                             const ReadyLaunch& student) {
  return FarBlocks(parts, request, student).find();
}

}  // namespace membound::harness
