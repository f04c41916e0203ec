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
      keep_share(range, compare(written));
      keep_peak(ran.drawn_bytes + written.bytes());
      blocks += range.count;
      fresh = 4 * ran.drawn_bytes > limits_.bytes;
      if (fresh) unchanged = unchanged && run_.inputs_are_as_drawn(seed_);
    }
    unchanged = unchanged && run_.inputs_are_as_drawn(seed_);
    if (!unchanged && whole_.found.empty()) whole_.found = "the launch changed its inputs";
    spent_ = 0;
    tell_idle_blocks();
    const double part = static_cast<double>(whole_.elements) * static_cast<double>(blocks) /
                        static_cast<double>(all);
    const bool is_their_part =
        std::abs(static_cast<double>(written.count()) - part) <= kPartTolerance * part;
    if (ranges < std::min<std::uint64_t>(kFewestDrawn, drawn_ranges_.size())) return false;
    if (whole_.wrong_elements == 0 && whole_.found.empty() && !is_their_part) return false;
    drawn_ = grouped(blocks) + " of " + grouped(all) + " blocks";
    return true;
  }

  /// What a range that was drawn has written.
  void keep_share(const BlockRange& range, std::uint64_t elements) {
    most_of_block_ = std::max(most_of_block_, (elements + range.count - 1) / range.count);
    if (elements > 0) return;
    if (idle_ == 0) first_idle_ = range;
    idle_ += range.count;
  }

  /// Blocks that write nothing are more than the grid has to spare, where all others together have
  /// no more places than there are.
  void tell_idle_blocks() {
    const std::uint64_t all = run_.blocks();
    const auto elements = static_cast<std::uint64_t>(whole_.elements);
    const bool all_could = most_of_block_ * all >= elements;
    if (idle_ == 0 || !all_could || most_of_block_ * (all - idle_) >= elements) return;
    if (!whole_.found.empty()) return;
    whole_.found = "block " + grouped(first_idle_.first) + " of " + grouped(all) +
                   " writes nothing; the others write at most " + grouped(most_of_block_) +
                   " elements each, too few for " + grouped(elements);
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

  /// How many elements the range has written.
  std::uint64_t compare(PlaceSet& written) {
    std::uint64_t elements = 0;
    const WrittenPart part = run_.compare_sample(seed_, [&](std::size_t first, std::size_t count) {
      written.add(first, count);
      elements += count;
    });
    take(part.difference, part.expected, part.got);
    return elements;
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
  // Of the ranges that were drawn: what a block writes at most, and blocks that write nothing.
  std::uint64_t most_of_block_ = 0, idle_ = 0;
  BlockRange first_idle_;
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

}  // namespace membound::harness
