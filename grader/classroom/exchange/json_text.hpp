// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// JSON as the platforms' files hold it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace membound::exchange {

/// Pretty, a newline at the end; bytes that are not UTF-8 are replaced instead of thrown about.
[[nodiscard]] inline std::string json_text(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace membound::exchange
