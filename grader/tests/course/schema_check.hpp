// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds a JSON value against one of the project's schema files.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace membound::course {

/// The schema at `file` (from the project's root), read once; null where there is none.
inline const valijson::Schema* known_schema(const std::string& file) {
  static std::map<std::string, valijson::Schema> known;
  const auto [entry, is_new] = known.try_emplace(file);
  if (is_new) {
    std::ifstream stream(std::filesystem::path(MEMBOUND_SOURCE_DIR) / file);
    if (!stream) {
      known.erase(entry);
      return nullptr;
    }
    const auto json = nlohmann::json::parse(stream);
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(json),
                                            entry->second);
  }
  return &entry->second;
}

/// Every way in which `value` breaks the schema at `schema_file` (from the project's root), one per
/// line; empty when it fits.
inline std::string schema_problems(const std::string& schema_file, const nlohmann::json& value) {
  const valijson::Schema* const schema = known_schema(schema_file);
  if (schema == nullptr) return "no file " + schema_file;
  valijson::ValidationResults results;
  valijson::Validator().validate(*schema, valijson::adapters::NlohmannJsonAdapter(value), &results);
  std::string problems;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& part : error.context) problems += part;
    problems += ": " + error.description + "\n";
  }
  return problems;
}

}  // namespace membound::course
