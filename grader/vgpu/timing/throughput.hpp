// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What keeps pipes and memories busy: how long a launch would take if only that one thing
/// mattered.
#pragma once

#include <cstdint>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/machine.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::timing {

inline constexpr double kSectorBytes = 32;
inline constexpr double kQuarters = 4;  ///< BlockWork counts issue slots in quarters

[[nodiscard]] inline double real(std::uint64_t value) { return static_cast<double>(value); }

/// 0 where there is no whole.
[[nodiscard]] inline double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// What the terms share.
struct Workload {
  const Machine& machine;
  const counters::Counters& totals;
  const counters::LaunchWork& work;
  std::uint64_t constant_bytes = 0;  ///< of the program's variables in constant memory
};

/// Terms that keep pipes of SMs busy, were the work spread evenly.
[[nodiscard]] std::vector<Bound> sm_terms(const Workload& s);

/// Terms of what all SMs share, but for atomics.
[[nodiscard]] std::vector<Bound> shared_terms(const Workload& s);

/// What DRAM is busy for.
[[nodiscard]] double dram_ns(const Workload& s);

/// What an SM takes for its loads from L2 and beyond, were they spread evenly.
[[nodiscard]] double sm_load_ns(const Workload& s);

/// Atomics take turns on the word that most of them want, and in the part of L2 that most of them
/// go to; the others share a rate.
[[nodiscard]] double atomic_ns(const Workload& s);

/// Sectors that come from L2, once for every warp that waits for them: what several ask for
/// together is fetched once, but charged to each. Without the cache model's figures every sector
/// counts.
[[nodiscard]] double l2_read_sectors(const counters::Counters& c);

/// All that go between L1 and L2, either way.
[[nodiscard]] double l2_sectors(const Machine& m, const counters::Counters& c);

/// Clocks of an SM for all requests to shared memory.
[[nodiscard]] double shared_clocks(const Machine& machine, const counters::Counters& c);

}  // namespace membound::vgpu::timing
