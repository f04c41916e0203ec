// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a launch may leave something for the next one in a variable of its module (`__device__`
/// outside of functions): what some blocks have left there shows in the results of later launches
/// alone.
#pragma once

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Does code that the kernel reaches write to such a variable, as far as can be told? Addresses are
/// followed through registers; where one goes to memory or into a function, anything may be
/// written.
[[nodiscard]] bool may_write_variables(const Program& program, const Kernel& kernel);

}  // namespace membound::vgpu::program
