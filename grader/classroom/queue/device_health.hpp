// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a real device still works after a submission that broke a rule of it. One that does not
/// is in quarantine: nobody else is judged on it.
/// Place in the chain: one_submission -> [device_health] -> membound_runner --probe.
#pragma once

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"

namespace membound::queue {

/// How often and how long the device is asked. The driver needs seconds to take a kernel that never
/// ends off the device once its process is gone.
struct ProbeTries {
  double seconds_per_try = 20;
  int tries = 3;
  double seconds_between = 5;
};

/// Runs one kernel in a process of its own and reads its result back. An error: the device does not
/// answer, or answers wrong.
[[nodiscard]] base::Status probe_device(const Settings& settings, const judge::Device& device,
                                        const ProbeTries& probe = {});

}  // namespace membound::queue
