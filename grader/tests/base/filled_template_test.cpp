// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/filled_template.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace membound::base {
namespace {

TEST(FilledTemplate, QuotesValuesForHtmlUnlessToldNotTo) {
  const nlohmann::json values = {{"name", "<b>"}};
  EXPECT_EQ(*filled_template("{{name}} {{{name}}}", values, Quoting::kHtml), "&lt;b&gt; <b>");
  EXPECT_EQ(*filled_template("{{name}}", values, Quoting::kNone), "<b>");
}

TEST(FilledTemplate, TakesEmptyTextsAndListsForNotThere) {
  const nlohmann::json values = {
      {"none", ""}, {"nobody", nlohmann::json::array()}, {"some", {"a", "b"}}};
  EXPECT_EQ(*filled_template("{{#none}}x{{/none}}{{#nobody}}y{{/nobody}}{{#some}}{{.}};{{/some}}",
                             values, Quoting::kHtml),
            "a;b;");
}

TEST(FilledTemplate, SaysWhatIsWrongWithATemplate) {
  const auto page = filled_template("{{#open}}", nlohmann::json::object(), Quoting::kHtml);
  ASSERT_FALSE(page.ok());
  EXPECT_NE(page.error().found, "");
}

}  // namespace
}  // namespace membound::base
