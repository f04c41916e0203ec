// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a jail costs: the smallest program started bare and in a jail, in turn, so that whatever
/// else the machine does meets both. Prints medians; docs/security.md holds a run of it.
///   cmake --build --preset ci --target jail_overhead &&
///   build/ci/grader/gpu_truth/isolation/jail_overhead
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "grader/base/process.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace {

constexpr int kRuns = 200;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Function>
double milliseconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

int main() {
  using namespace membound::jail;
  std::printf("%s\n", probe().describe().c_str());
  if (!probe().untrusted_ok()) return 1;
  JailRequest request;
  request.arguments = {"/usr/bin/true"};
  request.bindings = {{"/usr/include", "/toolkit"}, {"/usr/share", "/course"}};
  std::vector<double> bare, jailed, difference;
  bool all_well = true;
  for (int i = 0; i < kRuns; ++i) {
    bare.push_back(milliseconds([&] {
      all_well = membound::base::run_process({.arguments = {"/usr/bin/true"}}).ok() && all_well;
    }));
    jailed.push_back(milliseconds([&] { all_well = run(request).ok() && all_well; }));
    difference.push_back(jailed.back() - bare.back());
  }
  std::printf("bare %.2f ms, in a jail %.2f ms, overhead %.2f ms (medians of %d each, in turn)\n",
              median(bare), median(jailed), median(difference), kRuns);
  return all_well ? 0 : 1;
}
