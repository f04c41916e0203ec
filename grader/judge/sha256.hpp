// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// SHA-256 (FIPS 180-4): names for compiled code and submissions that depend on their content
/// alone. Our own sixty lines, because a cryptography library would be one more package for every
/// student.
#pragma once

#include <string>
#include <string_view>

namespace membound::judge {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view text);

}  // namespace membound::judge
