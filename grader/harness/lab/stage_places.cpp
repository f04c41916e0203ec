// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of StageRun that knows whether what was timed by some of its blocks leaves nothing
/// undone: by a rule that a few blocks show, or by running all of them.
///
///   timed at the first size   a rule says that each place is written once     nothing more is done
///                             no rule, or one that leaves places out          all blocks run
///   timed at a smaller one    because its blocks take too many instructions,
///                             and so does any way to compute it               the rule, at that
///                             size for another reason                              all blocks run
///                             at the
///                                                                             first size
///   all blocks ran            a wrong or missing place                        wrong
///                             they would take too long                        passes, without the
///                                                                             points above the bar
#include <algorithm>

#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/measure/coverage.hpp"
#include "grader/harness/measure/whole_run.hpp"

namespace membound::harness {
namespace {

/// What a whole run may take within a check, and what is too little to look for a rule: of a core
/// with nothing else to do, by instructions and places, so that no verdict hangs on the host.
constexpr double kMostSeconds = 12, kLittleSeconds = 0.03;
/// On one core, about: of executing, and of drawing, comparing and remembering a place.
constexpr double kInstructionsPerSecond = 1e8, kPlacesPerSecond = 1e8;

double seconds_of_places(const TimedCase& timed) {
  double places = static_cast<double>(timed.output.count);
  for (const TimedBuffer& input : timed.inputs) places += static_cast<double>(input.count);
  return places / kPlacesPerSecond;
}

}  // namespace

void StageRun::check_places(const Session::SizedCases& way, std::size_t case_index,
                            TimingOutcome& outcome) {
  if (!session_.times_some_blocks(stage_))
    return;  // all blocks ran, at the size that was asked for
  std::string doubt;
  if (way.sampled && may_leave_out(way, case_index, outcome, doubt))
    look_at_whole(way, case_index, doubt, outcome.timing);
  const std::vector<Session::SizedCases> ways = session_.ways_to_run_whole(stage_);
  const Session::SizedCases& first = ways.front();
  if (outcome.timing.runs_wrong > 0 || first.size == way.size) return;
  if (least_seconds(first.cases[case_index]) <= kMostSeconds)
    look_at_whole(first, case_index, "", outcome.timing);
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
  limits.instructions = static_cast<std::uint64_t>(kMostSeconds * kInstructionsPerSecond);
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
  } else if (!whole.complete) {
    const std::string why = "its results at " + whole.label + " are not all known to be right" +
                            (doubt.empty() ? "" : " (" + doubt + ")") +
                            ", and to compute all of them was given up: " + whole.why_not;
    if (measurement_.no_full_points.empty()) add_remark("no more points than at the bar: " + why);
    measurement_.no_full_points = why;
  }
  const std::lock_guard lock(mutex_);
  measurement_.whole_runs.push_back(std::move(whole));
}

}  // namespace membound::harness
