// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "grader/vgpu/timing/mends.hpp"

namespace membound::vgpu::timing {
namespace {

using Finder = std::optional<Mend> (*)(const Observed&);

constexpr Finder kFinders[] = {
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) find_##id,
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE
};

}  // namespace

double Observed::places() const {
  return static_cast<double>(std::max(1u, prediction.occupancy.blocks)) * machine.sm_count;
}

double Observed::filled() const {
  return prediction.occupancy.share * std::min(1.0, blocks() / places());
}

double Observed::bound_ns(BoundKind kind) const {
  for (const Bound& bound : prediction.bounds)
    if (bound.kind == kind) return bound.ns;
  return 0;
}

double Observed::busiest_ns() const {
  double most = 0;
  for (const Bound& bound : prediction.bounds)
    if (bound.kind != BoundKind::kLatency && bound.kind != BoundKind::kIdleSms &&
        bound.kind != BoundKind::kLaunch)
      most = std::max(most, bound.ns);
  return most;
}

ClockedLaunch Observed::copy() const {
  ClockedLaunch launch{{counters.totals, {}, counters.work}, shape, {}};
  if (launch.counters.work.runs.empty())
    launch.counters.work = uniform_work(counters.totals, shape);
  return launch;
}

std::string short_number(double value) {
  char text[32];
  if (value >= 100 || std::abs(value - std::round(value)) < 0.05)
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

const counters::LineCounters* line_with_most(const counters::LaunchCounters& counters,
                                             std::uint64_t counters::Counters::*counter) {
  const auto most = std::max_element(
      counters.lines.begin(), counters.lines.end(),
      [&](const auto& a, const auto& b) { return a.counters.*counter < b.counters.*counter; });
  return most == counters.lines.end() || most->counters.*counter == 0 ? nullptr : &*most;
}

std::vector<Advice> advise(const Machine& machine, const counters::LaunchCounters& counters,
                           const LaunchShape& shape, const Prediction& prediction) {
  std::vector<Advice> all;
  // Whatever is taken away, the launch itself stays.
  if (prediction.ns < kLeastGain * prediction.fixed_ns) return all;
  const Observed observed{machine, counters, shape, prediction};
  for (std::size_t i = 0; i < std::size(kFinders); ++i) {
    const auto mend = kFinders[i](observed);
    if (!mend) continue;
    const counters::RuleInfo& rule = counters::kRules[i];
    const ClockedLaunch& launch = mend->launch;
    const double ns = predict(machine, launch.counters, launch.shape, launch.removed).ns;
    Advice advice{&rule, prediction.ns / ns, mend->what, 0, "", 0};
    if (advice.gain < kLeastGain) continue;
    advice.value = counters.totals.*counters::find_counter(rule.counter)->member;
    if (mend->line != nullptr) {
      advice.file = mend->line->file;
      advice.line = mend->line->line;
    }
    all.push_back(std::move(advice));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Advice& a, const Advice& b) { return a.gain > b.gain; });
  return all;
}

}  // namespace membound::vgpu::timing
