// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Errors on their way out: printed to standard error, turned into an exit code.
#pragma once

#include <exception>
#include <string>

#include "grader/base/result.hpp"

namespace membound::cli {

/// Prints "membound: …" and returns the error's exit code.
int report_error(const base::Error& error);
/// The same for what no command expected: a full disk, no memory.
int report_exception(const std::exception& error);
/// Writes out what stands in standard output's buffer; an error if some of the output was lost.
[[nodiscard]] base::Status finish_output();
/// A remark that is no error: "membound: note: …".
void report_note(const std::string& text);

}  // namespace membound::cli
