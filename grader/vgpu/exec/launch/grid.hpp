// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The block scheduler: runs all blocks of a launch, in parallel where they cannot talk to each
/// other, else interleaved on one thread in a fixed order, so that a program gives the same result
/// every time.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Runs every block; returns the workers with what they counted.
std::vector<std::unique_ptr<Worker>> run_grid(Launch& launch);

}  // namespace membound::vgpu::exec
