// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is wrong with a command line, in Membound's four parts.
/// Place in the chain: CLI11 -> [usage_error] -> command_line. Left out: words that no command
/// knows, which command_line finds by itself.
#pragma once

#include <string>

#include "grader/base/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace membound::cli {

/// "membound dev check": how the command is called.
[[nodiscard]] std::string path_of(const CLI::App& command);

/// Why CLI11 stopped at `command`, the last one of the line that it knew.
[[nodiscard]] base::Error usage_error(const CLI::App& command, const CLI::ParseError& error);

}  // namespace membound::cli
