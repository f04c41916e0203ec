// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Follows one run until nothing of it is left: reads what comes out, and ends everything when a
/// limit is reached. And from what was seen to how the run ended, which is pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "grader/base/files.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/init/init_report.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

/// All that was seen of one run.
struct Observed {
  LimitHit limit = LimitHit::kNone;  ///< which the supervisor itself enforced
  bool stopped = false;
  std::string output;
  std::string status;                  ///< every byte the init sent, whole or cut off
  std::optional<int> bubblewrap_code;  ///< all there is to go by where the init is switched off
  std::uint64_t memory_kills = 0;
  std::uint64_t refused_processes = 0;
  std::size_t peak_memory_bytes = 0;
  double cpu_seconds = 0;
  double seconds = 0;
};

/// An error when the program was never started, which is the machine's fault.
[[nodiscard]] base::Result<JailOutcome> outcome_of(const JailRequest& request,
                                                   const Observed& observed);

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
