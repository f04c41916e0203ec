// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The pages' Mustache templates, and filling them in. Every value is escaped for HTML.
/// Place in the chain: class_page, … -> [templates] -> base/filled_template.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace membound::gradebook {

/// A file of templates/: "class".
[[nodiscard]] std::string_view template_text(std::string_view name);

/// The template with `values` in it; numbers must come as text. "style" is added.
[[nodiscard]] std::string filled(std::string_view template_name, nlohmann::json values);

}  // namespace membound::gradebook
