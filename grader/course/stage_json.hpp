// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A stage as lab.json writes it: what it demands, what it is timed at, what is counted.
/// Place in the chain: lab (lab_from_text) -> [stage_json] -> json_reader.
#pragma once

#include <optional>
#include <string>

#include "grader/course/json_reader.hpp"
#include "grader/course/lab.hpp"

namespace membound::course {

/// A name of small letters, digits and '-'.
[[nodiscard]] std::string read_slug(const JsonValue& value);

/// A member that may be absent.
[[nodiscard]] double read_number(const JsonValue& object, const char* key, NumberRange range,
                                 double otherwise);

/// "host_code" of a stage, or of a lab for all of its stages: false, or an object with the
/// program's limits.
[[nodiscard]] std::optional<ProgramLimits> read_host_code(const JsonValue& object);

/// `of_all`: the limits of a lab whose stages are all about programs.
[[nodiscard]] Stage read_stage(const JsonValue& object, int expected_number, const Lab& lab,
                               const std::optional<ProgramLimits>& of_all);

}  // namespace membound::course
