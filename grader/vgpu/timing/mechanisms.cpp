// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/mechanisms.hpp"

#include <algorithm>
#include <cmath>

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

/// A rate that nothing comes near, and an exponent with which the largest of two is nearly all.
constexpr double kNoLimit = 1e5, kLargestAlone = 30;

/// Blocks that all did what they did on average.
void level(LaunchWork& work) {
  std::uint64_t blocks = 0;
  for (const counters::BlockRun& run : work.runs) blocks += run.blocks;
  if (blocks == 0) return;
  BlockWork average;
  for (const auto field : counters::kBlockWorkFields) {
    double sum = 0;
    for (const counters::BlockRun& run : work.runs)
      sum += static_cast<double>(run.blocks) * static_cast<double>(work.kinds[run.kind].*field);
    average.*field = static_cast<std::uint64_t>(std::llround(sum / static_cast<double>(blocks)));
  }
  work.kinds = {average};
  work.runs = {{0, blocks}};
}

// NOLINTBEGIN(bugprone-macro-parentheses): the columns are statements
constexpr Mechanism kMechanisms[] = {
#define MEMBOUND_NUMBER_MECHANISM(id, room, off, meaning) \
  {#id, room, meaning, false, [](Machine& m) { off; }, nullptr},
#define MEMBOUND_RUN_MECHANISM(id, room, off, meaning) \
  {#id, room, meaning, true, [](Machine& m) { off; }, nullptr},
#define MEMBOUND_COUNT_MECHANISM(id, room, off, meaning) \
  {#id,   room,    meaning,                              \
   false, nullptr, []([[maybe_unused]] Counters& c, [[maybe_unused]] LaunchWork& w) { off; }},
#include "grader/vgpu/timing/mechanisms.def"
};
// NOLINTEND(bugprone-macro-parentheses)
static_assert(std::size(kMechanisms) <= 64, "Machine::ignored_counts has a bit for each");

}  // namespace

std::span<const Mechanism> all_mechanisms() { return kMechanisms; }

const Mechanism* find_mechanism(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kMechanisms), std::end(kMechanisms),
                                         [&](const Mechanism& each) { return each.name == name; });
  return found == std::end(kMechanisms) ? nullptr : found;
}

Machine without(Machine machine, const Mechanism& mechanism) {
  if (mechanism.change != nullptr)
    mechanism.change(machine);
  else
    machine.ignored_counts |= std::uint64_t{1} << (&mechanism - kMechanisms);
  return machine;
}

counters::LaunchCounters counts_left(const Machine& machine, counters::LaunchCounters counters) {
  for (std::size_t i = 0; i < std::size(kMechanisms); ++i)
    if ((machine.ignored_counts >> i & 1) != 0)
      kMechanisms[i].ignore(counters.totals, counters.work);
  return counters;
}

}  // namespace membound::vgpu::timing
