// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds a JSON value against one of the project's schema files.
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace membound::course {

/// Every way in which `value` breaks the schema at `schema_file` (from the project's root), one per
/// line; empty when it fits.
inline std::string schema_problems(const std::string& schema_file, const nlohmann::json& value) {
  const auto path = std::filesystem::path(MEMBOUND_SOURCE_DIR) / schema_file;
  std::ifstream stream(path);
  if (!stream) return "no file " + path.string();
  const auto schema_json = nlohmann::json::parse(stream);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_json),
                                          schema);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema, valijson::adapters::NlohmannJsonAdapter(value), &results);
  std::string problems;
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const std::string& part : error.context) problems += part;
    problems += ": " + error.description + "\n";
  }
  return problems;
}

}  // namespace membound::course
