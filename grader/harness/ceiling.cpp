// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/ceiling.hpp"

#include <algorithm>
#include <vector>

#include "grader/harness/statistics.hpp"

namespace membound::harness {
namespace {

constexpr int kSamples = 9;
constexpr std::size_t kLeastBytes = 1 << 20;
constexpr int kRoundsOnGpu = 4096;    // some milliseconds, so that the clock settles
constexpr int kRoundsOnVirtual = 32;  // deterministic; each round costs host time

}  // namespace

template <typename Work>
double Ceilings::median_ns(const Work& work) {
  const int samples = device_.is_virtual() ? 1 : kSamples;
  const int warm_up = device_.is_virtual() ? 0 : 2;
  std::vector<double> times;
  for (int i = -warm_up; i < samples; ++i) {
    kernels_.flush_l2();
    timer_.start();
    work();
    timer_.stop();
    cuda_check(timer_.wait(), "measuring a ceiling");
    if (i >= 0) times.push_back(timer_.nanoseconds());
  }
  return median(times);
}

double Ceilings::measure_bytes(CeilingKind kind, std::size_t bytes) {
  if (kind == CeilingKind::kRead) {
    const DeviceBuffer source(bytes);
    cuda_check(cudaMemset(source.data(), 0, bytes), "clearing a buffer");
    return static_cast<double>(bytes) / median_ns([&] { kernels_.read(source.data(), bytes); }) *
           1e9;
  }
  const DeviceBuffer source(bytes / 2);
  const DeviceBuffer target(bytes / 2);
  cuda_check(cudaMemset(source.data(), 0, bytes / 2), "clearing a buffer");
  return static_cast<double>(bytes) /
         median_ns([&] { kernels_.copy(target.data(), source.data(), bytes / 2); }) * 1e9;
}

double Ceilings::measure_operations() {
  double operations = 0;
  const int rounds = device_.is_virtual() ? kRoundsOnVirtual : kRoundsOnGpu;
  const double time_ns = median_ns([&] { operations = kernels_.add_min(rounds); });
  return operations / time_ns * 1e9;
}

double Ceilings::measure(CeilingKind kind, double useful_bytes) {
  // Whole kilobytes, so that both halves of a copy are whole vectors.
  const std::size_t bytes =
      kind == CeilingKind::kOperations
          ? 0
          : std::max(kLeastBytes, static_cast<std::size_t>(useful_bytes) / 1024 * 1024);
  const auto key = std::make_pair(kind, bytes);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const double rate =
      kind == CeilingKind::kOperations ? measure_operations() : measure_bytes(kind, bytes);
  known_.emplace(key, rate);
  return rate;
}

}  // namespace membound::harness
