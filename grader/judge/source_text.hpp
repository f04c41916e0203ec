// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a submission is text that compilers read, before one is asked: nvcc drops zero bytes
/// without a word, and answers UTF-16 with a message for each character. And whether it is all.
/// Place in the chain: compile -> [source_text].
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace membound::judge {

/// Why the file's bytes are no such text and what to do, a sentence each; empty where they are.
/// Bytes that are not UTF-8 are not looked for: in a comment they do no harm.
[[nodiscard]] std::string why_not_text(std::string_view bytes);

/// A note for each file that `source` includes from its own folder, where only kernel.cuh may be:
/// nobody but its author has it. Includes that a macro or a condition hides are not seen.
[[nodiscard]] std::string notes_on_headers(const std::filesystem::path& source,
                                           std::string_view text);

}  // namespace membound::judge
