// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/ceiling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

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
    case CeilingKind::kMultiplyAdd:
      return "multiply-add";
    case CeilingKind::kOperations:
      break;
  }
  return "operations";
}

CeilingKind ceiling_kind_of(const TimedCase& timed_case) {
  if (timed_case.useful_operations > 0)
    return timed_case.fused_operations ? CeilingKind::kMultiplyAdd : CeilingKind::kOperations;
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

namespace {

constexpr std::size_t kLeastBytes = 1 << 20;
constexpr std::size_t kMostWhole = 32 << 20;  ///< larger copies are sampled where that can be

}  // namespace

template <typename Prepare, typename Work>
double Ceilings::median_ns(const Prepare& prepare, const Work& work) {
  const TimingRules& rules = device_.timing_rules();
  std::vector<double> times;
  for (int i = 0; i < rules.ceiling_warm_up + rules.ceiling_samples; ++i) {
    prepare(static_cast<std::uint64_t>(i));
    kernels_.flush_l2();
    // As one message: a runner that waited for us between the events would time our socket, too.
    LaunchBatch batch;
    timer_.start();
    work();
    timer_.stop();
    cuda_check(batch.send(), "measuring a ceiling");
    cuda_check(timer_.wait(), "measuring a ceiling");
    if (i >= rules.ceiling_warm_up) times.push_back(timer_.nanoseconds());
  }
  return median(times);
}

// Under the conditions of a timed run: fresh random data, a poisoned output, then the flush. On an
// H200 buffers of zeros came out a tenth slower.
double Ceilings::measure_bytes(CeilingKind kind, std::size_t bytes) {
  const bool writes = kind == CeilingKind::kCopy;
  const std::size_t moved_bytes = writes ? bytes / 2 : bytes;
  const TimedBuffer form{.type = ElementType::kFloat, .count = moved_bytes / sizeof(float)};
  const DeviceBuffer source(moved_bytes);
  const DeviceBuffer target(writes ? moved_bytes : 0);
  const bool sampled = device_.can_sample() && bytes > kMostWhole;
  const auto prepare = [&](std::uint64_t seed) {
    if (sampled) {
      kernels_.fill_when_touched(form, source.data(), seed);
      if (writes) kernels_.prepare_when_touched(form, target.data());
      return;
    }
    kernels_.fill(form, source.data(), seed);
    if (writes) kernels_.prepare_output(form, target.data());
  };
  const double time_ns = median_ns(prepare, [&] {
    const SampledLaunches some(device_, sampled ? std::optional(Sampling{1}) : std::nullopt);
    if (writes)
      kernels_.copy(target.data(), source.data(), moved_bytes);
    else
      kernels_.read(source.data(), moved_bytes);
  });
  return static_cast<double>(bytes) / time_ns * 1e9;
}

template <typename Operations>
double Ceilings::measure_operations(const Operations& operations) {
  double done = 0;
  const int iterations = device_.timing_rules().add_min_iterations;
  const double time_ns =
      median_ns([](std::uint64_t) {},
                [&] {
                  const SampledLaunches some(
                      device_, device_.can_sample() ? std::optional(Sampling{1}) : std::nullopt);
                  done = operations(iterations);
                });
  return done / time_ns * 1e9;
}

double Ceilings::measure(CeilingKind kind, double useful_bytes) {
  const DeviceScope on(device_.number());
  // Whole kilobytes, so that both halves of a copy are whole vectors.
  const bool moves = kind == CeilingKind::kCopy || kind == CeilingKind::kRead;
  const std::size_t bytes =
      moves ? std::max(kLeastBytes, static_cast<std::size_t>(useful_bytes) / 1024 * 1024) : 0;
  const auto key = std::make_pair(kind, bytes);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const double rate = moves ? measure_bytes(kind, bytes) : measure_operations([&](int iterations) {
    // Twice as fast, and long beside the launch: a prediction has few iterations.
    constexpr int kTimes = 8;
    return kind == CeilingKind::kMultiplyAdd ? kernels_.multiply_add(kTimes * iterations)
                                             : kernels_.add_min(iterations);
  });
  known_.emplace(key, rate);
  return rate;
}

}  // namespace membound::harness
