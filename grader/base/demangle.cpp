// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace membound::base {
namespace {

/// Where the bracket lies that the last character of `text` closes.
std::size_t opening_of_last(std::string_view text, char open, char close) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Drops a return type: everything up to the last space outside of brackets.
std::string_view without_return_type(std::string_view text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')' || text[i] == '>') ++depth;
    if (text[i] == '(' || text[i] == '<') --depth;
    if (text[i] == ' ' && depth == 0) return text.substr(i + 1);
  }
  return text;
}

}  // namespace

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

FunctionName parse_function_name(const std::string& mangled) {
  // "i" alone would be the mangled name of the type int.
  const std::string full = mangled.starts_with("_Z") ? demangled(mangled) : mangled;
  if (full == mangled || full.back() != ')') return {mangled, "", ""};
  const std::size_t open = opening_of_last(full, '(', ')');
  if (open == std::string::npos) return {mangled, "", ""};
  FunctionName name;
  name.parameters = full.substr(open);
  std::string head = full.substr(0, open);
  if (!head.empty() && head.back() == '>') {
    const std::size_t angle = opening_of_last(head, '<', '>');
    if (angle != std::string::npos) {
      name.instance = head.substr(angle);
      head.resize(angle);
    }
  }
  name.base = std::string(without_return_type(head));
  return name;
}

std::string without_namespaces(const std::string& name) {
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::string short_function_name(const std::string& mangled) {
  return without_namespaces(parse_function_name(mangled).base);
}

}  // namespace membound::base
