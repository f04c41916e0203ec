// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How often something is timed on a device, and what its times may be held against.
/// Place in the chain: device -> [timing_rules] -> timing, ceiling, stop_rule (which follow them).
#pragma once

namespace membound::harness {

/// One row for each kind of device: gpu.cpp and virtual_gpu.cpp.
struct TimingRules {
  int warm_up_pairs;          ///< of student and reference, before those that count
  bool same_every_time;       ///< one pair says all, and a time may be known before a run
  bool random_order;          ///< of student and reference in a pair
  int event_samples;          ///< of the time between two events with nothing between them
  int ceiling_warm_up;        ///< runs before those that count,
  int ceiling_samples;        ///< and those
  int add_min_rounds;         ///< of a thread, for the ceiling of operations
  int reference_warm_up;      ///< where the reference is timed alone: runs before those that count,
  int reference_samples;      ///< and those
  bool bound_by_ceiling;      ///< a kernel that passes it is suspicious; else it is held there
  bool place_matters;         ///< which pages a buffer has changes a time: they are drawn anew
  bool comparable_with_cpus;  ///< times of the CPU beside them say something
};

}  // namespace membound::harness
