// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loads of neighbouring words of shared memory that ptxas makes one: a thread that wants two or
/// four words that lie in 8 or 16 bytes, aligned so that ptxas can tell, gets them by one
/// instruction. Place in the chain: program/linker, before registers get slots -> costs, exec's
/// path weights, the counter vector_shared_wavefronts. Source: the machine code nvcc 13 makes for
/// sm_90 of products by tiles and of sums over a row of shared memory (nvdisasm).
#pragma once

#include <cstddef>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets `led_bytes` at the first load of each vector, `fused` at all others, and `second_half` at
/// one of those that make it wider than 8 bytes. Operands still carry virtual registers.
void mark_vectors(Function& function, std::size_t registers);

}  // namespace membound::vgpu::program
