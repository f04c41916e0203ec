// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/templates.hpp"

#include <kainjow/mustache.hpp>

#include "grader/base/check.hpp"

namespace membound::gradebook {
namespace {

using kainjow::mustache::data;

/// An empty list or text is "not there" to a section.
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

std::string filled(std::string_view template_name, const nlohmann::json& values) {
  kainjow::mustache::mustache page{std::string(template_text(template_name))};
  MEMBOUND_CHECK(page.is_valid());
  data all = to_mustache(values);
  all.set("style", data{std::string(template_text("style.css"))});
  return page.render(all);
}

}  // namespace membound::gradebook
