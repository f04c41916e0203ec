// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A line of source as compilers show it below a message.
/// Place in the chain: findings, PTX -> [source_excerpt] -> terminal, membound dev ptx.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace membound::report {

/// The lines of a file, the first one at place 0.
using SourceText = std::vector<std::string>;

/// The text of a source file, by the name that the compiler gave it; empty where there is none.
using SourceReader = std::function<SourceText(const std::string& file)>;

/// The line with its number, and a caret under its place; nothing where the source has no such
/// line. `column` counts bytes from 1; 0 marks the whole statement. At most `width` columns wide.
[[nodiscard]] std::string source_excerpt(const SourceText& source, int line, int column, int width);

}  // namespace membound::report
