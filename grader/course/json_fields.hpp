// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small helpers for files our own programs write: a missing field keeps its default, null reads as
/// the default (JSON has no NaN: numbers that are not finite are written as null).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace membound::course {

/// Sets `value` from `json[key]` unless that is missing or null.
template <typename T>
void read_field(const nlohmann::json& json, const char* key, T& value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null()) found->get_to(value);
}

/// JSON text in one line; bytes that are not UTF-8 (a compiler may print any) become U+FFFD.
[[nodiscard]] inline std::string dump_safely(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace membound::course
