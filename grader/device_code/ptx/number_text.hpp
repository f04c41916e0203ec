// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers as PTX writes them.
/// Place in the chain: ast -> [number_text] -> declaration_text, printer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace membound::ptx {

/// `prefix` and as many upper-case digits: "0f3F800000".
[[nodiscard]] std::string hex(std::string_view prefix, int digits, std::uint64_t bits);
[[nodiscard]] std::string integer(std::uint64_t bits, bool is_unsigned);
/// With its sign; nothing for 0.
[[nodiscard]] std::string offset(std::uint64_t bits);

}  // namespace membound::ptx
