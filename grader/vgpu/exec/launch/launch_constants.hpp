// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Values that are the same for a whole launch, written out for 32 lanes each: literals,
/// parameters, addresses, special registers. Place in the chain: exec/launch/prepare ->
/// [launch_constants].
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Fills the constants of a function of this launch.
void fill_constants(const Launch& launch, FunctionCode& code);

}  // namespace membound::vgpu::exec
