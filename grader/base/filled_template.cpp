// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/filled_template.hpp"

#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"

namespace membound::base {
namespace {

using kainjow::mustache::data;

data to_mustache(const nlohmann::json& value) {
  if (value.is_object()) {
    data object{data::type::object};
    for (const auto& [key, member] : value.items()) object.set(key, to_mustache(member));
    return object;
  }
  if (value.is_array()) {
    data list{data::type::list};
    for (const auto& item : value) list.push_back(to_mustache(item));
    return list;
  }
  if (value.is_boolean())
    return data{value.get<bool>() ? data::type::bool_true : data::type::bool_false};
  MEMBOUND_CHECK(value.is_string());
  if (value.get_ref<const std::string&>().empty()) return data{data::type::bool_false};
  return data{value.get<std::string>()};
}

}  // namespace

Result<std::string> filled_template(const std::string& text, const nlohmann::json& values,
                                    Quoting quoting) {
  kainjow::mustache::mustache page{text};
  if (!page.is_valid())
    return Error{ErrorKind::kInternal, "template", page.error_message(), "a Mustache template", ""};
  if (quoting == Quoting::kNone)
    page.set_custom_escape([](const std::string& plain) { return plain; });
  return page.render(to_mustache(values));
}

}  // namespace membound::base
