// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a submission is text that compilers read, before one is asked: nvcc drops zero bytes
/// without a word, and answers UTF-16 with a message for each character.
/// Place in the chain: compile -> [source_text].
#pragma once

#include <string>
#include <string_view>

namespace membound::judge {

/// Why the file's bytes are no such text and what to do, a sentence each; empty where they are.
/// Bytes that are not UTF-8 are not looked for: in a comment they do no harm.
[[nodiscard]] std::string why_not_text(std::string_view bytes);

}  // namespace membound::judge
