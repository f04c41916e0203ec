// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs one kernel launch to its end. Left out: streams, time.
#pragma once

#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::exec {

/// Runs the launch to its end, its first fault, a limit, or `stop`.
[[nodiscard]] LaunchReport launch(const LaunchRequest& request);

}  // namespace membound::vgpu::exec
