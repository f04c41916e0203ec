// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of a stage's run that look at launches which were timed by some of their blocks:
/// whether all blocks write the whole output, whether positions of more than 32 bits are right, and
/// the run of all blocks that decides where samples cannot.
#include <algorithm>

#include "grader/base/failpoint.hpp"
#include "grader/harness/cases/element_sets.hpp"
#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/measure/coverage.hpp"
#include "grader/harness/measure/whole_run.hpp"

namespace membound::harness {
namespace {

/// What a whole run may take within a check, and what is too little to look for a rule: of a core
/// with nothing else to do, by instructions and places, so that no verdict depends on the host.
constexpr double kMostSeconds = 12, kLittleSeconds = 0.03;
/// What one of a launch that is too slow may take: it earns nothing for its speed, and takes
/// longest. Where it gets to no end nothing is said.
constexpr double kMostSecondsIfSlow = 2;
/// Of blocks that are drawn where all would take more: of loads that lie apart a core executes some
/// 25 million a second.
constexpr std::uint64_t kDrawnInstructions = 300'000'000;
/// What two of a launch that may leave something in variables may take together.
constexpr double kMostSecondsOfVariables = 4;
/// On one core, about: of executing, and of drawing, comparing and remembering a place.
constexpr double kInstructionsPerSecond = 1e8, kPlacesPerSecond = 1e8;

double elements_of(const TimedCase& timed) {
  double places = static_cast<double>(timed.output.count);
  for (const TimedBuffer& input : timed.inputs) places += static_cast<double>(input.count);
  return places;
}

double seconds_of_places(const TimedCase& timed) { return elements_of(timed) / kPlacesPerSecond; }

}  // namespace

void StageRun::check_places(const Session::SizedCases& way, std::size_t case_index,
                            TimingOutcome& outcome) {
  if (!session_.times_some_blocks(stage_))
    return;  // all blocks ran, at the size that was asked for
  std::string doubt;
  if (way.sampled && may_leave_out(way, case_index, outcome, doubt))
    look_at_whole(way, case_index, doubt, outcome.timing);
  else if (way.sampled && outcome.writes_variables && outcome.timing.ratio >= stage_.pass_ratio)
    look_at_variables(way, case_index, outcome);
  if (outcome.timing.runs_wrong > 0) return;
  if (outcome.timing.ratio < stage_.pass_ratio) return;
  // Of the sizes at which it could not be timed, the largest that can be computed whole: a block
  // that leaves its part out may be why the others could not stand for it.
  for (const Session::SizedCases& larger : session_.ways_to_run_whole(stage_)) {
    if (larger.size == way.size) return;
    if (least_seconds(larger.cases[case_index]) > kMostSeconds) continue;
    return look_at_whole(larger, case_index, "", outcome.timing);
  }
}

/// Any block may leave something for the next launch, and few have run: so all of them do, twice,
/// at the largest size at which that does not take long.
void StageRun::look_at_variables(const Session::SizedCases& way, std::size_t case_index,
                                 TimingOutcome& outcome) {
  const double elements = elements_of(way.cases[case_index]);
  const std::vector<Session::SizedCases> ways = session_.ways_to_run_whole(stage_);
  for (const Session::SizedCases& one : ways) {
    const TimedCase& timed = one.cases[case_index];
    const double seconds =
        outcome.instructions / kInstructionsPerSecond * elements_of(timed) / elements +
        seconds_of_places(timed);
    if (2 * std::max(seconds, least_seconds(timed)) <= kMostSecondsOfVariables ||
        &one == &ways.back())
      return look_at_whole(one, case_index, "it writes variables of its module", outcome.timing);
  }
}

bool StageRun::may_leave_out(const Session::SizedCases& way, std::size_t case_index,
                             const TimingOutcome& outcome, std::string& doubt) {
  const TimedCase& timed = way.cases[case_index];
  const double seconds = outcome.instructions / kInstructionsPerSecond + seconds_of_places(timed);
  if (seconds < kLittleSeconds) return true;
  TimingRequest request = timing_request(timed, stage_, seed_of_case(case_index));
  request.sampled = true;
  const Preparation student = session_.student().prepare(
      {stage_.kernel, timed.instance, timed.sizes}, request.timeout_seconds);
  if (student.refusal) return true;  // it has been timed: all blocks will tell
  doubt = find_doubt(session_.bench().parts(), request, student.launch, outcome.places);
  return !doubt.empty();
}

void StageRun::look_at_whole(const Session::SizedCases& way, std::size_t case_index,
                             const std::string& doubt, course::Timing& timing) {
  WholeLimits limits;
  const double seconds = timing.ratio < stage_.pass_ratio ? kMostSecondsIfSlow : kMostSeconds;
  limits.instructions = static_cast<std::uint64_t>(seconds * kInstructionsPerSecond);
  limits.drawn_instructions = std::min(kDrawnInstructions, limits.instructions);
  const auto [known, is_new] = whole_by_label_.try_emplace(way.cases[case_index].label);
  if (is_new) known->second = run_whole(way, case_index, limits);
  course::WholeRun whole = known->second;
  if (whole.is_wrong() && timing.runs_wrong == 0) {
    timing.runs_wrong = 1;
    timing.runs_checked = std::max<std::int64_t>(timing.runs_checked, 1);
    timing.wrong_elements = whole.wrong_elements + whole.missing_elements;
    timing.first_wrong_index =
        whole.wrong_elements > 0 ? whole.first_wrong_index : whole.first_missing_index;
    timing.wrong_text = whole.found;
    if (whole.label != timing.label)
      timing.wrong_text = "with " + whole.label + ", " + timing.wrong_text;
  } else if (!whole.complete && timing.ratio >= stage_.pass_ratio) {
    const std::string why = "what it computes at " + whole.label + " is not all known to be right" +
                            (doubt.empty() ? "" : " (" + doubt + ")") +
                            ", because the virtual GPU stopped before the end: " + whole.why_not;
    if (measurement_.no_full_points.empty())
      add_remark("the bar's points and no more: " + why +
                 ". Nothing wrong was found; with fewer instructions for each element it gets to "
                 "the end, and --device gpu has no such limit");
    measurement_.no_full_points = why;
  }
  const std::lock_guard lock(mutex_);
  measurement_.whole_runs.push_back(std::move(whole));
}

namespace {

bool has_over_31_bits(const TimedCase& one) {
  const auto is_long = [](std::size_t count) { return count > std::size_t{1} << 31; };
  return is_long(one.output.count) ||
         std::ranges::any_of(one.inputs,
                             [&](const TimedBuffer& input) { return is_long(input.count); });
}

std::size_t bytes_of_arrays(const TimedCase& one) {
  std::size_t bytes = one.output.size_bytes();
  for (const TimedBuffer& input : one.inputs) bytes += input.size_bytes();
  return bytes;
}

}  // namespace

testing::AssertionResult StageRun::check_far_blocks(std::span<const std::int64_t> size,
                                                    const std::string& contract) {
  // A GPU would have to run all blocks.
  if (!session_.device().can_sample() || base::switched_off("harness.far-blocks"))
    return testing::AssertionSuccess();
  const auto most_bytes = static_cast<std::size_t>(session_.device().info().memory_bytes) / 10 * 9;
  const std::vector<TimedCase> cases =
      session_.program().timed_cases(stage_, {size.begin(), size.end()});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const TimedCase& one = cases[i];
    if (bytes_of_arrays(one) > most_bytes) continue;
    TimingRequest request = timing_request(one, stage_, seed_of_case(i));
    request.sampled = true;
    const Preparation student = session_.student().prepare({stage_.kernel, one.instance, one.sizes},
                                                           request.timeout_seconds);
    const std::string about =
        "\nfor " + one.label +
        (has_over_31_bits(one) ? ": the contract allows more than 2^31 elements ("
                               : ", which the contract allows (") +
        contract + ")";
    // No device takes this grid; at the sizes that are tested and timed it is right.
    if (student.refusal) continue;
    about_test_ = about;
    const std::string problem = find_wrong_place(session_.bench().parts(), request, student.launch);
    about_test_.clear();
    if (!problem.empty()) return testing::AssertionFailure() << problem << about;
  }
  return testing::AssertionSuccess();
}

namespace {

/// A case that is bound by operations and takes longer is looked at with the next smaller size.
constexpr double kLongSeconds = 10;

}  // namespace

void StageRun::look_at_all() {
  const std::vector<Session::SizedCases> ways = session_.ways_to_run_whole(stage_);
  for (std::size_t i = 0; i < ways.front().cases.size(); ++i) {
    std::optional<course::WholeRun> last;
    for (const Session::SizedCases& way : ways) {
      const TimedCase& one = way.cases[i];
      const bool is_last = &way == &ways.back();
      if (least_seconds(one) > kLongSeconds && !is_last) continue;
      last = run_whole(way, i, {});
      // Too large to run at once: the next size says something at least.
      if (last->complete) break;
    }
    const std::lock_guard lock(mutex_);
    measurement_.whole_runs.push_back(*std::move(last));
  }
}

course::WholeRun StageRun::run_whole(const Session::SizedCases& way, std::size_t case_index,
                                     const WholeLimits& limits) {
  const TimedCase& one = way.cases[case_index];
  TimingRequest request = timing_request(one, stage_, seed_of_case(case_index));
  request.sampled = true;
  const Preparation student =
      session_.student().prepare({stage_.kernel, one.instance, one.sizes}, request.timeout_seconds);
  course::WholeRun whole;
  if (student.refusal) {
    whole.label = one.label;
    whole.why_not = base::to_string(student.refusal->error);
  } else {
    WholeOutcome outcome =
        harness::run_whole(session_.bench().parts(), request, student.launch, limits);
    whole = std::move(outcome.run);
    if (!outcome.drawn.empty() && !whole.is_wrong() && whole.complete)
      add_remark("its results at " + whole.label + " are those of " + outcome.drawn +
                 ", drawn at random: all would take more than " + grouped(limits.instructions) +
                 " warp instructions");
  }
  whole.size = way.size;
  whole.is_first_size = way.size == session_.first_size(stage_);
  return whole;
}

}  // namespace membound::harness
