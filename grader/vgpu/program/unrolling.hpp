// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What ptxas makes of small loops. PTX has a loop once; ptxas repeats the body four times where it
/// can tell how often the loop runs. Then counting, comparing and branching happen once for four
/// rounds, and loads of four rounds are in flight together.
/// Place in the chain: program/linker, before registers get slots -> rounds, exec's path weights.
#pragma once

#include <cstddef>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Rounds of a loop that ptxas joins. Measured on an H200: clock/kernels.cu and the pairs of
/// gpu_truth/advice that count in loops run as if by 4.
inline constexpr std::uint32_t kUnrolledRounds = 4;

/// Sets kUnrolled at the counting, comparison and branch of loops of one basic block that count by
/// a constant and have neither barrier nor call nor `.pragma "nounroll"`; and at the loads of such
/// a loop that waits for no load of the round before and stores nothing, how many rounds are one
/// wait (Instruction::rounds_together). Operands still carry virtual registers.
void mark_unrolled(Function& function, std::size_t registers);

/// Is it executed once for kUnrolledRounds rounds? Of a loop's loads only the waits are shared.
[[nodiscard]] inline bool is_shared_by_rounds(const Instruction& in) { return in.has(kUnrolled); }

}  // namespace membound::vgpu::program
