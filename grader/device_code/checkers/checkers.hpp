// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The checkers by name, and what each finds.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace membound::checkers {

/// One row of checkers.def.
struct CheckerInfo {
  std::string_view name;   ///< "memcheck": what --check takes and a finding says
  std::string_view words;  ///< what it finds, for --help
  std::string_view finds;  ///< the same in full
  bool of_kernels;         ///< looks on while a kernel runs, not at the end of the program
  bool at_right_results;   ///< what it finds is undefined whatever came of it
};

/// Every checker, those whose findings matter most first.
inline constexpr std::array kCheckers = {
#define MEMBOUND_KERNEL_CHECKER(name, at_right_results, words, finds) \
  CheckerInfo{#name, words, finds, true, at_right_results},
#define MEMBOUND_PROGRAM_CHECKER(name, words, finds) CheckerInfo{#name, words, finds, false, false},
#include "grader/device_code/checkers/checkers.def"
};

/// "memcheck,racecheck": as --check and MEMBOUND_CHECK take them, those that `wanted` is true of.
template <typename Wanted>
std::string checker_names(Wanted wanted) {
  std::string list;
  for (const CheckerInfo& checker : kCheckers)
    if (wanted(checker)) list += (list.empty() ? "" : ",") + std::string(checker.name);
  return list;
}
/// All of them, or those of kernels.
inline std::string checker_names(bool of_kernels_only) {
  return checker_names(
      [&](const CheckerInfo& checker) { return checker.of_kernels || !of_kernels_only; });
}
/// Those that look at right results.
inline std::string checker_names_at_right_results() {
  return checker_names([](const CheckerInfo& checker) { return checker.at_right_results; });
}

}  // namespace membound::checkers
