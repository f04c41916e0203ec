// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Small helpers for files our own programs write: a missing field keeps its default, null reads as
/// the default (JSON has no NaN: numbers that are not finite are written as null).
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

namespace membound::course {

/// Sets `value` from `json`. Throws where that has another type; also for 1e300 where a whole
/// number is expected, which the library would convert although no integer can hold it.
template <typename T>
void read_value(const nlohmann::json& json, T& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (!json.is_number_integer())
      throw nlohmann::json::type_error::create(
          302, std::string("type must be a whole number, but is ") + json.type_name(), &json);
  json.get_to(value);
}

/// Sets `value` from `json[key]` unless that is missing or null.
template <typename T>
void read_field(const nlohmann::json& json, const char* key, T& value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null()) read_value(*found, value);
}

/// `json[key]` where that is a text, else "": for files of any origin.
[[nodiscard]] inline std::string text_or_empty(const nlohmann::json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// `json[key]` where that is a number within `low` to `high`, else 0: for files of any origin.
[[nodiscard]] inline double number_or_zero(const nlohmann::json& json, const char* key, double low,
                                           double high) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  if (found == json.end() || !found->is_number()) return 0;
  const auto value = found->get<double>();
  return value >= low && value <= high ? value : 0;
}

/// JSON text in one line; bytes that are not UTF-8 (a compiler may print any) become U+FFFD.
[[nodiscard]] inline std::string dump_safely(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A number in multiples of `unit`; null where there is none, or none that JSON can write.
[[nodiscard]] inline nlohmann::json number_or_null(const std::optional<double>& value,
                                                   double unit = 1) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value / unit;
}

}  // namespace membound::course
