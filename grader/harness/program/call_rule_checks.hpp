// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds the calls of one run against what lab.json demands of them. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// What is known of one run.
struct Evidence {
  Evidence(const std::vector<runner::Call>& its_calls)  // NOLINT(google-explicit-constructor)
      : calls(its_calls) {}

  const std::vector<runner::Call>& calls;
  /// Of each call that has_worked(), whether anything it did came into the results; empty where
  /// nobody has asked: then all count.
  std::vector<bool> arrived = {};
  /// What each of these launches read and wrote, where somebody has asked; else empty.
  std::vector<std::vector<runner::MemoryUse>> uses = {};
  std::string printed = {};          ///< the program's own output
  std::string not_the_devices = {};  ///< why results are not the device's; "" where they are
  /// How the program ended well although wrong results came with its copies; "" where it noticed.
  std::string not_noticed = {};
};

/// Why the run does not meet the demand, with the remedy; nothing where it does. `kernel` is the
/// stage's, as the programmer wrote it. Demands on launches and copies look at those alone of which
/// something came into the results: kernels that work on memory of their own do not count.
[[nodiscard]] std::optional<std::string> breach_of(const course::CallDemand& demand,
                                                   const std::string& kernel,
                                                   const Evidence& evidence);

}  // namespace membound::harness
