// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Atomics that the compiler has one lane do for its whole warp. Where ptxas sees that all lanes
/// mean one word, it joins their values first (a vote, a sum over the warp) and sends one
/// operation. What lanes only happen to share at run time stays one operation a lane, but for
/// increments of shared memory, whose lanes the hardware counts word by word. Place in the chain:
/// program/linker, before registers get slots -> exec counts joined atomics. Source: the machine
/// code nvcc 13 makes of grader/gpu_truth/profiler/atomics.cu for sm_90.
#pragma once

#include <cstddef>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets Instruction::mode of atomics and reductions to a Joining; operands still carry virtual
/// registers.
void mark_joined_atomics(Function& function, std::size_t registers);

}  // namespace membound::vgpu::program
