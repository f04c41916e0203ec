// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times a program's own work on the device that it meets by itself, beside the reference program,
/// run by run in turn, with the work clock's events.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/measurement.hpp"
#include "grader/harness/program/program_run.hpp"
#include "grader/harness/program/work_report.hpp"

namespace membound::harness {

struct ClockSetting {
  std::filesystem::path clock;         ///< the work clock's library
  std::filesystem::path reference;     ///< our answer, compiled and linked; empty: there is none
  double bar = 0;                      ///< the stage's pass_ratio
  bool same_every_time = false;        ///< a virtual clock: one pair is enough
  bool copies_beside_kernels = false;  ///< the stage's task: then the ideal is told
};

/// One program, timed on one input.
class ClockedProgram {
 public:
  ClockedProgram(const Setting& setting, const ClockSetting& clock)
      : setting_(setting), clock_(clock) {}

  /// All runs. The end and the outputs are those of the first run of the program that ended badly,
  /// or handed in something else than the first one; else of the first. An error is the machine's
  /// or ours: also where the reference program does not run here.
  [[nodiscard]] base::Result<RunEnd> run(const Given& given);

  /// Of pairs with the reference program; nothing where there were none.
  [[nodiscard]] const std::optional<course::Timing>& timing() const { return timing_; }
  /// What is worth telling besides.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Once;
  struct Pair;
  [[nodiscard]] base::Result<Once> run_once(const std::filesystem::path& program,
                                            const Given& given, const std::filesystem::path& folder,
                                            bool apart) const;
  [[nodiscard]] base::Result<Pair> run_pair(const Given& given, const std::filesystem::path& folder,
                                            bool reference_first) const;
  /// The quickest of some runs: what could be saved is told for the device at its best.
  [[nodiscard]] base::Result<AloneTimes> times_alone(const Given& given,
                                                     const std::filesystem::path& folder) const;
  void tell_times(double usual_ns, const AloneTimes& alone);

  const Setting& setting_;
  const ClockSetting& clock_;
  std::optional<course::Timing> timing_;
  std::vector<std::string> notes_;
};

}  // namespace membound::harness
