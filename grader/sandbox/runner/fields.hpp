// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fields of a struct, from the struct itself.
/// Place in the chain: messages -> [fields] -> wire. Left out: structs with bases or constructors.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace membound::runner {

template <typename T>
concept Aggregate = std::is_aggregate_v<T>;

/// Stands for a value of any field: asked for, never made.
struct AnyValue {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): the conversion is what is asked for
};

/// How many fields T has: as many values as its braces take.
template <Aggregate T, typename... Values>
consteval std::size_t field_count() {
  if constexpr (requires { T{Values{}..., AnyValue{}}; })
    return field_count<T, Values..., AnyValue>();
  else
    return sizeof...(Values);
}

/// Calls `visit(field, field, …)` with all fields of `value`, at most 8.
template <typename T, typename V>
void visit_fields(T& value, V&& visit) {
  constexpr std::size_t kCount = field_count<std::remove_const_t<T>>();
  static_assert(kCount <= 8, "add a line");
  if constexpr (kCount == 0) {
    visit();
  } else if constexpr (kCount == 1) {
    auto& [a] = value;
    visit(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = value;
    visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = value;
    visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    visit(a, b, c, d, e, f, g);
  } else {
    auto& [a, b, c, d, e, f, g, h] = value;
    visit(a, b, c, d, e, f, g, h);
  }
}

/// "Launch" of membound::runner::Launch.
template <typename T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "… [with T = membound::runner::Launch; …]"
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

}  // namespace membound::runner
