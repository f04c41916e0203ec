// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs one kernel launch to its end, or some blocks of a large one and says what all of them would
/// have done. Left out: streams, time.
///
/// Of a sample, counters are scaled stratum by stratum; the kinds of blocks that ran stand for
/// those beside them in launch order; different sectors are scaled array by array, and no array has
/// more than it has. What blocks not run would have left in memory is left out. So a launch whose
/// blocks wait for each other or use what others leave is not sampled, but where only the last one
/// does (last_block_pattern.hpp), nor one in which a few blocks do so much more than others that
/// the sample says nothing: the report then says why.
#pragma once

#include <string>

#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::exec {

/// Runs the launch to its end, its first fault, a limit, or `stop`.
[[nodiscard]] LaunchReport launch(const LaunchRequest& request);

/// Of a launch whose sample would take too long; LaunchReport::warp_instructions then says after
/// how many it was given up.
inline constexpr const char* kTooManyInstructions = "its blocks take too many instructions each";

/// Why some blocks of this launch cannot run without the others; empty: they can.
[[nodiscard]] std::string why_not_sampled(const LaunchRequest& request);

/// `request.sample` is set.
[[nodiscard]] LaunchReport run_sampled(const LaunchRequest& request);

}  // namespace membound::vgpu::exec
