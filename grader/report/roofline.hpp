// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The instruction roofline of a kernel: how many warp instructions it executes for each byte of
/// DRAM traffic, how fast, and which of the two roofs is above it.
/// Place in the chain: course/kernel_profile -> [roofline] -> HTML page.
/// Source of the form: Ding and Williams, "An Instruction Roofline Model for GPUs", PMBS 2019.
#pragma once

#include <optional>
#include <string>

#include "grader/course/kernel_profile.hpp"

namespace membound::report {

/// Where the kernel is and where the roofs are. All rates are predicted by the timing model.
struct Roofline {
  double instructions_per_byte = 0;  ///< warp instructions over DRAM bytes
  double reached = 0;                ///< 1e9 warp instructions per second
  double issue_roof = 0;             ///< the same, were issue slots the only limit
  double dram_gbs = 0;               ///< GB/s, were DRAM the only limit
  [[nodiscard]] double roof_at(double intensity) const {
    return intensity * dram_gbs < issue_roof ? intensity * dram_gbs : issue_roof;
  }
};

/// Nothing where the model gave no DRAM traffic or no instructions.
[[nodiscard]] std::optional<Roofline> roofline_of(const course::KernelProfile& kernel);

/// The picture, 700 pixels wide.
[[nodiscard]] std::string draw_roofline(const Roofline& roofline, const std::string& title,
                                        bool standalone = false);

}  // namespace membound::report
