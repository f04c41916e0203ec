// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads and stores of shared memory that the machine code has otherwise than the PTX: what it does
/// without is counted beside what the PTX says. Place in the chain: program/machine_accesses says
/// which -> launch/prepare -> [issued_accesses] -> memory/shared_banks; counters.def subtracts.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Runs Extra::as_written and counts what the machine code saves, or takes, of it.
[[nodiscard]] Handler issued_access_handler();

}  // namespace membound::vgpu::exec
