// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// PTX text to syntax tree, with every error of the text shown by line and caret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/device_code/ptx/ast.hpp"

namespace membound::ptx {

/// One thing wrong with the text.
struct Diagnostic {
  Position position = {};
  std::string found = {};
  std::string expected = {};
  std::string advice = {};
};

/// At most this many diagnostics are collected from one text.
inline constexpr std::size_t kMaxDiagnostics = 20;

/// What a text became: the tree holds what could be understood, also when there are diagnostics.
struct Parsed {
  Module module = {};
  std::vector<Diagnostic> diagnostics = {};
};

/// Parses and keeps going after errors. `file_name` only serves messages.
[[nodiscard]] Parsed parse_collecting(std::string_view text, std::string_view file_name);

/// Parses a whole module. The error names the first place and lists every diagnostic with its
/// source line and a caret.
[[nodiscard]] base::Result<Module> parse(std::string_view text, std::string_view file_name);

/// "file:line:column: found\n <source line>\n     ^", for a diagnostic of `text` and for later
/// stages that reject an instruction by its Position.
[[nodiscard]] std::string with_caret(std::string_view text, std::string_view file_name,
                                     Position position, std::string_view message);

/// The text a module was parsed from, for with_caret().
[[nodiscard]] std::string_view text_of(const Module& module);

/// The file name a module was parsed under.
[[nodiscard]] std::string_view file_name_of(const Module& module);

}  // namespace membound::ptx
