// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of StageRun that runs timed cases whole, for their results.
#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/measure/whole_run.hpp"

namespace membound::harness {
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
      // Too large in one piece: the next size says something at least.
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
    whole = harness::run_whole(session_.bench().parts(), request, student.launch, limits);
  }
  whole.size = way.size;
  whole.is_first_size = way.size == session_.first_size(stage_);
  return whole;
}

}  // namespace membound::harness
