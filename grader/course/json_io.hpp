// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// JSON in two ways: the fields of a struct, listed once for reading and writing, in files that
/// our own programs write; and a reader for files that people write, which says where (file,
/// line, JSON pointer) something is not as it should be.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::course {

// Files of our own programs. A missing field keeps its default, null reads as the default (JSON
// has no NaN: numbers that are not finite are written as null).

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
template <typename T>
void read_value(const nlohmann::json& json, std::optional<T>& value) {
  read_value(json, value.emplace());
}

/// Sets `value` from `json[key]` unless that is missing or null.
template <typename T>
void read_field(const nlohmann::json& json, const char* key, T& value) {
  const auto found = json.find(key);
  if (found != json.end() && !found->is_null()) read_value(*found, value);
}

/// Sets `json[key]`; null for nothing and for a number that is not finite.
template <typename T>
void write_field(nlohmann::json& json, const char* key, const T& value) {
  json[key] = value;
}
template <typename T>
void write_field(nlohmann::json& json, const char* key, const std::optional<T>& value) {
  json[key] = nullptr;
  if constexpr (std::is_floating_point_v<T>)
    if (value && !std::isfinite(*value)) return;
  if (value) json[key] = *value;
}

/// Throws where a field is missing or null that has no default.
inline void require_fields(const nlohmann::json& json, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (json.at(key).is_null())
      throw nlohmann::json::type_error::create(302, std::string(key) + " must not be null", &json);
}

#define MEMBOUND_WRITE_FIELD(field) write_field(out, #field, value.field);
#define MEMBOUND_READ_FIELD(field) read_field(in, #field, value.field);
/// Defines write_fields(json, T) and read_fields(json, T) for the fields listed, each called in
/// JSON as in the struct. At most 63.
#define MEMBOUND_FIELDS(T, ...)                                                  \
  static void write_fields(nlohmann::json& out, const T& value) {                \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(MEMBOUND_WRITE_FIELD, __VA_ARGS__)) \
  }                                                                              \
  static void read_fields(const nlohmann::json& in, T& value) {                  \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(MEMBOUND_READ_FIELD, __VA_ARGS__))  \
  }
/// The same, and to_json() and from_json() for a struct that is its listed fields.
#define MEMBOUND_JSON(T, ...)                                                     \
  MEMBOUND_FIELDS(T, __VA_ARGS__)                                                 \
  void to_json(nlohmann::json& out, const T& value) { write_fields(out, value); } \
  void from_json(const nlohmann::json& in, T& value) { read_fields(in, value); }

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

// Files that people write, read field by field up to the first thing that is not as it should
// be.

/// The line (from 1) of the value at `pointer` ("/stages/0/points") in `text`: that of its key, or
/// in an array its own. Found by reading the text once more; nullopt when the pointer leads
/// nowhere.
[[nodiscard]] std::optional<int> line_of(std::string_view text, const std::string& pointer);

/// The text of one file, its parsed value, and the first problem met while reading it.
class JsonDocument {
 public:
  /// Fails on a syntax error, with the line; `//` and `/* */` comments are allowed.
  static base::Result<JsonDocument> parse(std::string text, std::string file_name);

  [[nodiscard]] const nlohmann::json& value() const { return value_; }
  [[nodiscard]] const std::optional<base::Error>& problem() const { return problem_; }

  /// Remembers the problem at `pointer`, unless an earlier one is remembered already.
  void report(const std::string& pointer, std::string found, std::string expected,
              std::string advice = "");

 private:
  std::string text_;
  std::string file_name_;
  nlohmann::json value_;
  std::optional<base::Error> problem_;
};

/// What a number field accepts.
struct NumberRange {
  double low;
  double high;
};

/// One value inside a document. Every getter returns a harmless default after reporting a problem,
/// so that a reader is a plain list of fields and the document is asked once at the end.
class JsonValue {
 public:
  JsonValue(JsonDocument* document, const nlohmann::json* value, std::string pointer)
      : document_(document), value_(value), pointer_(std::move(pointer)) {}

  /// The member `key`; reports and returns a null value when it is missing.
  [[nodiscard]] JsonValue member(const std::string& key) const;
  /// The member `key`, or nothing; never reports.
  [[nodiscard]] std::optional<JsonValue> optional_member(const std::string& key) const;
  /// The elements of an array with at least `least` of them.
  [[nodiscard]] std::vector<JsonValue> elements(std::size_t least) const;
  [[nodiscard]] bool is_object() const;
  /// Names of the members of an object, in the file's alphabetical order.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Reports every member whose key is not in `known`, suggesting the nearest one.
  void only_keys(const std::vector<std::string>& known) const;

  [[nodiscard]] std::string text() const;  ///< a string that is not empty
  [[nodiscard]] bool boolean() const;      ///< true or false
  [[nodiscard]] double number(NumberRange) const;
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high) const;

  /// Says that this value is well-formed but not acceptable.
  void report(std::string expected, std::string advice = "") const;
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

 private:
  JsonDocument* document_;
  const nlohmann::json* value_;
  std::string pointer_;
};

}  // namespace membound::course
