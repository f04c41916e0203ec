// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plain loads that a compare-and-swap holds against memory again: `old = *word; do { … old =
/// atomicCAS(word, old, …) } while (…)`, as the CUDA programming guide writes an atomic operation
/// of one's own. What such a load gives may be out of date, and then nothing is swapped. Place in
/// the chain: program/decoder -> [comparisons] -> the race checker.
#pragma once

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Sets kCompared on loads whose value comes, by moves alone, to be what an atom.cas of the same
/// place expects. Operands still carry virtual registers.
void mark_compared_loads(Function& function);

}  // namespace membound::vgpu::program
