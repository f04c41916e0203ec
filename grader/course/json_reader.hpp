// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads a hand-written JSON file field by field and, at the first thing that is not as it should
/// be, says where (file, line, JSON pointer), what was found and what was expected.
/// Place in the chain: file text -> [json_reader] -> lab.hpp. Left out: files our own programs
/// write (measurement.hpp, result.hpp), where a wrong field is our bug and needs no line number.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::course {

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
