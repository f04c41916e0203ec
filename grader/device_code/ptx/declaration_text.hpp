// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Variables and parameters as PTX declares them.
/// Place in the chain: ast -> [declaration_text] -> printer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/device_code/ptx/ast.hpp"

namespace membound::ptx {

[[nodiscard]] std::string_view spelling(Linkage linkage);
/// " .v4"; nothing for one element.
[[nodiscard]] std::string vector_word(std::uint8_t width);
/// "(.param .u64 a, .param .u32 n)".
[[nodiscard]] std::string parameters(const std::vector<Variable>& variables);
/// The whole declaration: linkage, initial value, ';'.
[[nodiscard]] std::string variable_text(const Variable& variable);

}  // namespace membound::ptx
