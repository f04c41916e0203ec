// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What may run after what in a function: for findings, which say what is missing on the way from
/// one instruction to another.
/// Place in the chain: program/control_flow -> [paths] -> exec/observe. Left out: calls; a call is
/// an instruction like others.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// True of an instruction that a path does not go beyond.
using PathEnd = std::function<bool(const Instruction&)>;

/// By instruction: may it run after instruction `from`? That one itself only where a loop leads
/// back to it. A path ends at the first instruction for which `ends` holds, which it still reaches.
[[nodiscard]] std::vector<bool> reached_from(const Function& function, std::uint32_t from,
                                             const PathEnd& ends = nullptr);

}  // namespace membound::vgpu::program
