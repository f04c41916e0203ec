// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From PTX's unlimited registers to few slots: values known at launch need none, and registers
/// that are never alive together share one, so that a warp's registers stay in the host's L1.
/// Place in the chain: program/decoder -> [registers] -> exec.
#pragma once

#include <span>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Slots of every virtual register; 0 marks a predicate.
using RegisterSizes = std::span<const std::uint8_t>;

/// Replaces uses of registers that only ever hold one launch-time value by that value; the moves
/// become kNop.
void propagate_constants(Function& function, RegisterSizes sizes);

/// Marks atomics nobody reads, then gives every register a slot (or a predicate number).
void assign_registers(Function& function, RegisterSizes sizes);

}  // namespace membound::vgpu::program
