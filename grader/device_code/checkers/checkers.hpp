// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The checkers by name, and what each finds.
/// Place in the chain: checkers.def -> [checkers] -> MEMBOUND_CHECK, the judge's second look, docs.
/// Left out: how a checker looks (vgpu/exec/observe).
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
};

/// Every checker, those whose findings matter most first.
inline constexpr std::array kCheckers = {
#define MEMBOUND_KERNEL_CHECKER(name, words, finds) CheckerInfo{#name, words, finds, true},
#define MEMBOUND_PROGRAM_CHECKER(name, words, finds) CheckerInfo{#name, words, finds, false},
#include "grader/device_code/checkers/checkers.def"
};

/// "memcheck,racecheck": as --check and MEMBOUND_CHECK take them.
inline std::string checker_names(bool of_kernels_only) {
  std::string list;
  for (const CheckerInfo& checker : kCheckers)
    if (checker.of_kernels || !of_kernels_only)
      list += (list.empty() ? "" : ",") + std::string(checker.name);
  return list;
}

}  // namespace membound::checkers
