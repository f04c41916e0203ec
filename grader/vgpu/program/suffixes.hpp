// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Turns the dotted words after an opcode into the fields of an Instruction.
/// Place in the chain: ptx::Instruction -> [suffixes] -> program/decoder.
#pragma once

#include <string>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/vgpu/program/instruction.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {

/// Fills type, rounding, flags, space and the like of `out`. Returns the first suffix nobody knows
/// for this opcode, or "".
[[nodiscard]] std::string_view read_suffixes(const ptx::Instruction& in, const OpcodeInfo& info,
                                             Instruction& out);

}  // namespace membound::vgpu::program
