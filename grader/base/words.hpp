// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers and names as files hold them: the same in every locale, harmless on every file system.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace membound::base {

/// With a point: decimal(0.5, 2) is "0.50".
[[nodiscard]] std::string decimal(double value, int digits);

/// File systems end names at 255 bytes; this leaves room for a digest and an ending.
inline constexpr std::size_t kMostFileNameBytes = 150;

/// `text` as one name of a file: letters, digits, '.', '-', '_' stay, every other byte becomes %XX,
/// as does a '.' in front. Different texts get different names: of what is longer than
/// kMostFileNameBytes the end gives way to a digest of the whole.
[[nodiscard]] std::string file_name(std::string_view text);

}  // namespace membound::base
