// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/templates.hpp"

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"

namespace membound::gradebook {

std::string filled(std::string_view template_name, nlohmann::json values) {
  values["style"] = template_text("style");
  auto page = base::filled_template(std::string(template_text(template_name)), values,
                                    base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

}  // namespace membound::gradebook
