// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From what a supervisor saw to how the run ended. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace membound::jail
