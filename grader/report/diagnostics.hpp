// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Places in source files as compilers write them, "file:line:column: error: …", with the line
/// below: editors and terminals lead from there to the line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::report {

/// The lines of a file, the first one at place 0.
using SourceText = std::vector<std::string>;

/// The text of a source file, by the name that the compiler gave it; empty where there is none.
using SourceReader = std::function<SourceText(const std::string& file)>;

/// The line with its number, and a caret under its place; nothing where the source has no such
/// line. `column` counts bytes from 1; 0 marks the whole statement. At most `width` columns wide.
[[nodiscard]] std::string source_excerpt(const SourceText& source, int line, int column, int width);

/// "labs/03-transpose/kernel.cu:25:1: error: ". The file is named from the current folder where it
/// lies below it. The column is 1: what the virtual GPU finds is known by line. `severity` is error
/// or warning.
[[nodiscard]] std::string diagnostic_head(const std::string& file, int line,
                                          std::string_view severity);

/// `compiler_output` with nvcc's "FILE(25): error: …" as "FILE:25:1: error: …", files named as
/// above. All other lines are as the compiler printed them.
[[nodiscard]] std::string with_places(std::string_view compiler_output);

/// The warnings in `compiler_output` whose place is wanted, each with the source that is shown
/// below it; not what the compiler says of all of them together.
[[nodiscard]] std::string warnings_in(
    std::string_view compiler_output,
    const std::function<bool(const std::string& file, int line)>& wanted);

}  // namespace membound::report
