// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a range of a launch's blocks for the results that they leave, and nothing else.
/// Place in the chain: launch -> [range_launch] -> chosen_blocks. Left out: which range.
///
/// By ranges, one after the other, a launch of any size leaves all of its results in bounded
/// memory, and a block alone shows which places are its own.
#pragma once

#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::exec {

/// `request.only` is set. A launch whose blocks may learn from each other runs only whole; the
/// report says why it was not run.
[[nodiscard]] LaunchReport run_range(const LaunchRequest& request);

}  // namespace membound::vgpu::exec
