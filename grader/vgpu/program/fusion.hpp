// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Instructions of PTX that ptxas makes part of another one: the machine has sums of three integers
/// (IADD3), a shift with a sum (LEA), logic of three words (LOP3), a product with a 64-bit sum
/// (IMAD.WIDE), and operands whose sign or absolute value is taken on the way (instruction set
/// reference of the CUDA binary utilities). A product and a sum of floats become one FFMA where
/// neither names a rounding mode (PTX ISA, "add" and "mul").
/// Place in the chain: program/linker, before registers get slots -> [fusion] -> costs.
/// Counters stay those of the PTX.
#pragma once

#include <cstddef>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets `fused` at instructions that vanish into the one that uses their result. Both stand in one
/// basic block. Operands still carry virtual registers.
void mark_fused(Function& function, std::size_t registers);

}  // namespace membound::vgpu::program
