// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What opcodes.def says to those who do not execute PTX.
/// Place in the chain: opcodes.def -> [opcodes] -> device_code/policy. Left out: how the virtual
/// GPU decodes and executes an opcode (vgpu/program/shapes.hpp reads those columns).
#pragma once

#include <string_view>

namespace membound::ptx {

/// May graded code hold this base opcode ("ld")? Not one that no row names.
[[nodiscard]] bool is_graded_opcode(std::string_view opcode);

}  // namespace membound::ptx
