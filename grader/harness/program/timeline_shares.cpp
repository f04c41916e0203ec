// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/timeline_shares.hpp"

#include <array>
#include <string_view>

#include "grader/base/demangle.hpp"
#include "grader/harness/program/spans.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;

double copy_time(const Case& c) {
  double all = 0, copies = 0;
  for (const Call& call : c.calls) {
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    const double ns = call.end_ns - call.start_ns;
    all += ns;
    if (call.kind == CallKind::kCopyIn || call.kind == CallKind::kCopyOut) copies += ns;
  }
  return all > 0 ? copies / all : 0;
}

struct Count {
  std::string_view name;
  double (*share)(const Case& c);
};
constexpr double kPercent = 100;
constexpr std::array kCounts =
    std::to_array<Count>({{"kernel_time_saved_percent", kernel_time_saved},
                          {"copies_beside_kernels_percent", copies_beside_kernels},
                          {"copy_time_percent", copy_time}});

}  // namespace

bool Case::is_launch(const Call& call) const {
  return call.kind == CallKind::kLaunch && call.succeeded() &&
         base::short_function_name(call.kernel) == kernel;
}

double kernel_time_saved(const Case& c) {
  std::vector<Span> kernels;
  for (const Call& call : c.calls)
    if (c.is_launch(call)) kernels.push_back({call.start_ns, call.end_ns});
  const double alone = total_ns(kernels);
  return alone > 0 ? 1 - covered_ns(kernels) / alone : 0;
}

double copies_beside_kernels(const Case& c) {
  std::vector<Span> kernels, copies;
  for (const Call& call : c.calls) {
    if (!call.succeeded()) continue;
    if (call.kind == CallKind::kLaunch) kernels.push_back({call.start_ns, call.end_ns});
    if (call.kind == CallKind::kCopyIn || call.kind == CallKind::kCopyOut)
      copies.push_back({call.start_ns, call.end_ns});
  }
  const double all = total_ns(copies);
  double beside = 0;
  for (const Span& copy : copies) beside += covered_ns(within(kernels, copy));
  return all > 0 ? beside / all : 0;
}

std::map<std::string, double> program_counts(const std::string& kernel,
                                             const std::vector<runner::Call>& calls) {
  std::map<std::string, double> all;
  for (const Count& count : kCounts)
    all.emplace(count.name, kPercent * count.share({calls, kernel, 0}));
  return all;
}

}  // namespace membound::harness
