// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bits of a result are undefined, where bits of the operands are: as exactly as Valgrind's
/// memcheck has it. Pure functions of one lane.
/// Place in the chain: undefined_values -> [undefined_bits].
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

/// The undefined bits of each source.
using OperandBits = std::array<std::uint64_t, 8>;

/// Of destination `result` of the step that this lane is about to execute.
[[nodiscard]] std::uint64_t undefined_bits(const Warp& w, const Step* s, std::size_t result,
                                           std::uint32_t lane, const OperandBits& bits);

}  // namespace membound::vgpu::exec
