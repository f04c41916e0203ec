// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fills in Mustache templates; kainjow's mustache does the work.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "grader/base/result.hpp"

namespace membound::base {

/// Whether values are quoted for HTML. "{{{name}}}" never is.
enum class Quoting { kHtml, kNone };

/// `text` with the object `values` in it: objects, lists, texts and truth values; numbers must come
/// as text. An empty list or text is "not there" to a section. An error says what is wrong with
/// `text`.
[[nodiscard]] Result<std::string> filled_template(const std::string& text,
                                                  const nlohmann::json& values, Quoting quoting);

}  // namespace membound::base
