// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Follows one run until nothing of it is left: reads what comes out, and ends everything when a
/// limit is reached.
#pragma once

#include <chrono>

#include "grader/base/files.hpp"
#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/jail_probe.hpp"
#include "grader/sandbox/jail/outcome.hpp"

namespace membound::jail {

/// Everything that is open while a jail runs.
struct Channels {
  base::Descriptor output;  ///< what is printed
  base::Descriptor status;  ///< what the init reports
  base::Descriptor jail;    ///< the process inside
  pid_t keeper = 0;
  pid_t inside = 0;
};

/// Returns when the run has ended, by itself or by us, or a process of it does not end.
[[nodiscard]] Observed watch(const Setup& setup, const JailRequest& request, const Cgroup& cgroup,
                             Channels channels, std::chrono::steady_clock::time_point start);

}  // namespace membound::jail
