// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the profiler counted (data/h200_profiler.csv), what the virtual GPU counts of the same
/// launches, and where the two are known to differ (deviations.txt).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"

namespace membound::profiler {

/// One launch: what it is called, and numbers by name.
struct Launch {
  std::string kernel;  ///< without its namespace, arguments and template arguments
  std::string name;    ///< of the case; the kernel's where cases have none
  std::map<std::string, double, std::less<>> numbers;
};

/// Launches by section, "global" or "03-transpose reference", in the order they ran.
using Sections = std::map<std::string, std::vector<Launch>>;

/// The launches under the profiler; numbers are metrics.
[[nodiscard]] Sections read_truth(const std::string& path);

/// Runs a program of this folder on the virtual GPU; numbers are counters.
[[nodiscard]] std::vector<Launch> run_program(const std::string& program);

/// The same for a lab's test program: its own kernels, whether the tests pass or not.
struct LabRun {
  std::string lab, kernels, filter;  ///< a line of labs.txt
};
[[nodiscard]] std::vector<LabRun> read_labs(const std::string& path);
[[nodiscard]] std::vector<Launch> run_lab(const LabRun& run, const std::string& answer);

/// A line of deviations.txt: these counters of these launches differ, for this reason.
struct Deviation {
  std::string section, name, counters, reason;  ///< name, counters: how they begin
  [[nodiscard]] bool covers(const std::string& in_section, const Launch& launch,
                            std::string_view counter) const;
};
[[nodiscard]] std::vector<Deviation> read_deviations(const std::string& path);

}  // namespace membound::profiler
