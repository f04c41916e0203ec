// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The texts of every PTX diagnostic, and how one is shown. Internal to ptx but for with_caret().
#pragma once

#include <string>
#include <string_view>

#include "grader/device_code/ptx/lexer.hpp"
#include "grader/device_code/ptx/parser.hpp"

namespace membound::ptx::errors {

/// What stands where something else should: "found ';'", expected `what`.
[[nodiscard]] Diagnostic unexpected(const Token& token, std::string_view what);
[[nodiscard]] Diagnostic unknown_name(std::string_view name, Position position);
[[nodiscard]] Diagnostic declared_twice(std::string_view name, Position position);
[[nodiscard]] Diagnostic not_a_predicate(std::string_view name, Position position);
[[nodiscard]] Diagnostic unknown_directive(std::string_view name, Position position);
[[nodiscard]] Diagnostic too_deep(Position position);
[[nodiscard]] Diagnostic too_large(std::string_view what, std::string_view limit,
                                   Position position);
[[nodiscard]] Diagnostic division_by_zero(Position position);
[[nodiscard]] Diagnostic too_many_initial_values(std::string_view name, Position position);
[[nodiscard]] Diagnostic wrong_initial_value(std::string_view found, std::string_view type,
                                             Position position);
[[nodiscard]] Diagnostic not_ptx(Position position);
[[nodiscard]] Diagnostic unclosed_body(std::string_view function, Position position);

/// All diagnostics as the one error parse() returns.
[[nodiscard]] base::Error as_error(const std::vector<Diagnostic>& diagnostics,
                                   std::string_view text, std::string_view file_name);

}  // namespace membound::ptx::errors
