// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From what workers counted per static instruction to counters per kernel and source line.
#pragma once

#include <span>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

[[nodiscard]] counters::LaunchCounters summarise(const Launch& launch,
                                                 std::span<const std::unique_ptr<Worker>> workers);

/// What was executed at least once, under the names PTX gives it: where the decoder turned an
/// instruction into another one, its own name counts.
[[nodiscard]] std::set<ExecutedOpcode> executed_opcodes(
    const Launch& launch, std::span<const std::unique_ptr<Worker>> workers);

}  // namespace membound::vgpu::exec
