// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds the calls of one run against what lab.json demands of them, and the times and rates that
/// the program prints against the runtime's clock. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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

/// "1490.6 GB/s", "0.0081 ms".
struct Figure {
  double value = 0;     ///< in ns, or in bytes per ns
  double rounding = 0;  ///< half of the last digit that was printed, in the same unit
  bool is_rate = false;
  std::string text;  ///< as it was printed
};

/// All numbers that are followed by a unit of time (ns, us, ms, s) or of data per second (MB/s,
/// GB/s, TB/s, MiB/s, GiB/s, TiB/s).
[[nodiscard]] std::vector<Figure> figures_in(std::string_view printed);

/// What the events of a program told it about its kernel.
struct MeasuredTime {
  double ns = 0;             ///< between the two events
  double read_bytes = 0;     ///< by the launches between them
  double written_bytes = 0;  ///< 0 with read_bytes: nobody knows
  int launches = 1;          ///< that lie between them: a program may print what one took
};

/// Of figures of one kind (times, or rates) at least one has to be measured, or an average of what
/// was: a program may also print what it took from another clock. Why none of them is; nothing
/// where one is, or where none was printed.
[[nodiscard]] std::optional<std::string> invented_figure(std::string_view printed,
                                                         const std::vector<MeasuredTime>& measured);

}  // namespace membound::harness
