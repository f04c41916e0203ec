// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Syntax tree back to PTX text: for traces, messages and the round-trip tests.
#pragma once

#include <string>

#include "grader/device_code/ptx/ast.hpp"

namespace membound::ptx {

/// A whole module. Initial values are printed as the bytes they became.
[[nodiscard]] std::string to_text(const Module& module);

/// One instruction without its ';': "@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8]".
[[nodiscard]] std::string to_text(const Instruction& instruction, const Function& function);

/// One operand as it would be written.
[[nodiscard]] std::string to_text(const Operand& operand);

/// The name of register `number`: "%r12".
[[nodiscard]] std::string register_name(const Function& function, std::uint32_t number);

}  // namespace membound::ptx
