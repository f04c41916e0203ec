// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The mechanisms of the clock by name, each with a switch: `membound dev mechanisms` tells what
/// each is good for. A switched-off mechanism is a machine with other numbers, so that nothing asks
/// for a switch while kernels run.
#pragma once

#include <span>
#include <string_view>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::timing {

/// One row of mechanisms.def.
struct Mechanism {
  std::string_view name;
  std::string_view room;     ///< below grader/vgpu
  std::string_view meaning;  ///< what it takes into account
  bool runs = false;         ///< it acts before or while kernels run; else what they did stays
  void (*change)(Machine& machine) = nullptr;  ///< switches it off; null: a matter of counts
  /// Takes out of what a launch counted what the mechanism adds to it; null: a matter of numbers.
  void (*ignore)(counters::Counters& c, counters::LaunchWork& w) = nullptr;
};

/// All of them, in the order of mechanisms.def.
[[nodiscard]] std::span<const Mechanism> all_mechanisms();
/// The one called `name`, or null.
[[nodiscard]] const Mechanism* find_mechanism(std::string_view name);

/// The machine with one of all_mechanisms() switched off.
[[nodiscard]] Machine without(Machine machine, const Mechanism& mechanism);

/// What is left of a launch's counts on a machine with mechanisms that are off
/// (Machine::ignored_counts).
[[nodiscard]] counters::LaunchCounters counts_left(const Machine& machine,
                                                   counters::LaunchCounters counters);

}  // namespace membound::vgpu::timing
