// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/speed_rules.hpp"

#include <algorithm>
#include <cmath>

namespace membound::harness {
namespace {

constexpr double kSimilarShare = 0.20;

}  // namespace

std::string to_string(CeilingKind kind) {
  switch (kind) {
    case CeilingKind::kCopy:
      return "copy";
    case CeilingKind::kRead:
      return "read";
    case CeilingKind::kOperations:
      break;
  }
  return "operations";
}

CeilingKind ceiling_kind_of(const TimedCase& timed_case) {
  if (timed_case.useful_operations > 0) return CeilingKind::kOperations;
  std::size_t input_bytes = 0;
  for (const TimedBuffer& input : timed_case.inputs) input_bytes += input.size_bytes();
  return timed_case.output.size_bytes() * 10 < input_bytes ? CeilingKind::kRead
                                                           : CeilingKind::kCopy;
}

bool is_suspicious(double rate, double ceiling) {
  return ceiling > 0 && rate > ceiling * (1 + kSuspicionMargin);
}

double ceiling_of_prediction(double copy_rate, double reference_rate) {
  return std::max(copy_rate, reference_rate);
}

double held_below(double ceiling, double work, double time_ns) {
  return ceiling > 0 ? std::max(time_ns, work / ceiling * 1e9) : time_ns;
}

int nearest_stage(double student_ns, const std::vector<std::pair<int, double>>& stage_times) {
  int nearest = 0;
  double least = std::log(1 + kSimilarShare);
  for (const auto& [stage, time_ns] : stage_times) {
    const double distance = std::abs(std::log(time_ns / student_ns));
    if (distance > least) continue;
    least = distance;
    nearest = stage;
  }
  return nearest;
}

}  // namespace membound::harness
