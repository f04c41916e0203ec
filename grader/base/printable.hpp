// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one printer for text that somebody else wrote: what a terminal, a browser or a reader's eye
/// would take for more than letters becomes visible instead.
/// Place in the chain: compiler output, file names, program output -> [printable] ->
/// everything that is shown or stored. Left out: the quoting a format asks for (HTML, CSV, JSON).
#pragma once

#include <string>
#include <string_view>

namespace membound::base {

/// Valid UTF-8 without control characters but line feed and tab, without escape sequences, and
/// without characters that have no width or turn the direction of writing. Such a character becomes
/// "\x1b" or "\u{202e}", a byte that is no UTF-8 "\xff"; a carriage return before a line feed is
/// left out. Printable text stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace membound::base
