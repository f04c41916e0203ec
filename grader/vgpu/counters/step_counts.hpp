// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is counted at one static instruction while it runs.
/// Place in the chain: counters.def -> [step_counts] -> exec: handlers count, summary sums up.
#pragma once

#include <cstdint>

namespace membound::vgpu::counters {

/// One field per tally and per counted row of counters.def.
struct StepCounts {
#define MEMBOUND_TALLY(name, what) std::uint64_t name = 0;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) std::uint64_t name = 0;
#include "grader/vgpu/counters/counters.def"

  StepCounts& operator+=(const StepCounts& other) {
#define MEMBOUND_TALLY(name, what) name += other.name;
#define MEMBOUND_COUNTED(name, unit, certainty, meaning, formed, metric) name += other.name;
#include "grader/vgpu/counters/counters.def"
    return *this;
  }
};

}  // namespace membound::vgpu::counters
