// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is counted of one run of a program on the virtual GPU, so that a student can predict it.
/// Place in the chain: lab.json's "predict" -> [program_counts] -> harness/program, which counts.
#pragma once

#include <array>
#include <string_view>

namespace membound::course {

struct ProgramCount {
  std::string_view name, is;
};

inline constexpr std::array kProgramCounts = std::to_array<ProgramCount>(
    {{"kernel_time_saved_percent",
      "of the time that the stage's kernels take one by one, how much running several at once "
      "saves"},
     {"copies_beside_kernels_percent",
      "of the time that copies between host and device take, during how much a kernel runs"},
     {"copy_time_percent",
      "of the time that all work takes one by one, how much is copies between host and device"}});

}  // namespace membound::course
