// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who decides to sample: at which sizes a stage is timed, run whole or looked at, and whether by
/// some of its blocks. Whether a launch can then be sampled, the virtual GPU says
/// (exec/launch/sampled_launch).
#include <algorithm>

#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/lab/session.hpp"

namespace membound::harness {
namespace {

std::size_t bytes_of(const std::vector<TimedCase>& cases) {
  std::size_t most = 0;  // cases run one after the other
  for (const TimedCase& timed_case : cases) {
    std::size_t bytes = timed_case.output.size_bytes();
    for (const TimedBuffer& input : timed_case.inputs) bytes += input.size_bytes();
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

std::vector<std::int64_t> Session::timed_size(const course::Stage& stage) const {
  if (!options_.size.empty()) return options_.size;
  const auto& sizes = stage.timed_sizes;
  MEMBOUND_CHECK(!sizes.empty());
  // All blocks run where there are checkers or no way to sample.
  if (device().computes_on_the_host() && !samples(stage)) return sizes.back();
  const auto quarter = static_cast<std::size_t>(device().info().memory_bytes) / 4;
  for (const auto& size : sizes)
    if (bytes_of(program_.timed_cases(stage, size)) <= quarter) return size;
  return sizes.back();
}

std::vector<TimedCase> Session::timed_cases(const course::Stage& stage) const {
  return program_.timed_cases(stage, timed_size(stage));
}

std::vector<Session::SizedCases> Session::ways_to_time(const course::Stage& stage) const {
  if (!samples(stage)) return {{timed_size(stage), timed_cases(stage), false}};
  std::vector<SizedCases> ways = sampled_ways(stage);
  const auto& last = stage.timed_sizes.back();
  ways.push_back({last, program_.timed_cases(stage, last), false});
  return ways;
}

std::vector<Session::SizedCases> Session::ways_to_run_whole(const course::Stage& stage) const {
  std::vector<SizedCases> ways = sampled_ways(stage);
  if (!options_.size.empty() || ways.empty()) {
    const std::vector<std::int64_t> size = timed_size(stage);
    ways = {{size, program_.timed_cases(stage, size), true}};
  }
  return ways;
}

std::vector<std::int64_t> Session::first_size(const course::Stage& stage) const {
  return ways_to_run_whole(stage).front().size;
}

bool Session::looks_at_some_blocks() const { return options_.some_blocks && device().can_sample(); }

std::vector<Session::SizedCases> Session::ways_to_look(const course::Stage& stage) const {
  std::vector<SizedCases> ways;
  const bool some = looks_at_some_blocks();
  const bool at_all_sizes = options_.size.empty() && knows_parts(stage);
  if (some && at_all_sizes) ways = sampled_ways(stage);
  ways.push_back({timed_size(stage), timed_cases(stage), false});
  if (some && !at_all_sizes) {
    ways.push_back(ways.front());
    ways.front().sampled = true;
  }
  return ways;
}

std::vector<Session::SizedCases> Session::sampled_ways(const course::Stage& stage) const {
  std::vector<SizedCases> ways;
  const auto quarter = static_cast<std::size_t>(device().info().memory_bytes) / 4;
  for (const auto& size : stage.timed_sizes) {
    std::vector<TimedCase> cases = program_.timed_cases(stage, size);
    if (bytes_of(cases) <= quarter) ways.push_back({size, std::move(cases), true});
  }
  return ways;
}

bool Session::knows_parts(const course::Stage& stage) const {
  const std::vector<TimedCase> cases = program_.timed_cases(stage, stage.timed_sizes.back());
  return std::all_of(cases.begin(), cases.end(),
                     [](const TimedCase& one) { return one.can_be_sampled(); });
}

bool Session::samples(const course::Stage& stage) const {
  return device().can_sample() && options_.size.empty() && !options_.look && !all_are_watched() &&
         knows_parts(stage);
}

bool Session::is_kept_from_sampling(const course::Stage& stage) const {
  return device().can_sample() && options_.size.empty() && all_are_watched() && knows_parts(stage);
}

bool Session::knows_no_parts(const course::Stage& stage) const {
  return device().can_sample() && options_.size.empty() && !options_.look && !all_are_watched() &&
         stage.timed_sizes.size() > 1 && !knows_parts(stage);
}

}  // namespace membound::harness
