// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers and names as files hold them: the same in every locale, harmless on every file system.
#pragma once

#include <string>
#include <string_view>

namespace membound::base {

/// With a point: decimal(0.5, 2) is "0.50".
[[nodiscard]] std::string decimal(double value, int digits);

/// `text` as one name of a file: letters, digits, '.', '-', '_' stay, every other byte becomes %XX,
/// as does a '.' in front. Different texts get different names.
[[nodiscard]] std::string file_name(std::string_view text);

}  // namespace membound::base
