// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/advice/advice.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "grader/vgpu/advice/what_if.hpp"

namespace membound::vgpu::advice {
namespace {

using Rule = std::optional<WhatIf> (*)(const Observed&);

constexpr Rule kRules[] = {
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) find_##id,
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE
};

}  // namespace

std::vector<Advice> advise(const Machine& machine, const counters::LaunchCounters& counters,
                           const LaunchShape& shape, const Prediction& prediction) {
  std::vector<Advice> all;
  // Whatever is taken away, the launch itself stays.
  if (prediction.ns < kLeastSpeedup * prediction.fixed_ns) return all;
  const Observed observed{machine, counters, shape, prediction};
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    const auto what_if = kRules[i](observed);
    if (!what_if) continue;
    const counters::RuleInfo& rule = counters::kRules[i];
    const ClockedLaunch& launch = what_if->launch;
    const double ns = predict(machine, launch.counters, launch.shape, launch.removed).ns;
    Advice advice{&rule, prediction.ns / ns, what_if->what, 0, "", 0};
    if (advice.speedup < kLeastSpeedup) continue;
    advice.value = counters.totals.*counters::find_counter(rule.counter)->member;
    if (what_if->line != nullptr) {
      advice.file = what_if->line->file;
      advice.line = what_if->line->line;
    }
    all.push_back(std::move(advice));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Advice& a, const Advice& b) { return a.speedup > b.speedup; });
  return all;
}

}  // namespace membound::vgpu::advice
