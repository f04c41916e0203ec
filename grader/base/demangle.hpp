// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The names compilers give to functions, as people write them. The only place that demangles.
#pragma once

#include <string>

namespace membound::base {

/// "f(float*, int)" for "_Z1fPfi"; what is not mangled stays as it is.
[[nodiscard]] std::string demangled(const std::string& name);

/// A function's name, taken apart: "void ns::f<float>(float*, int)".
struct FunctionName {
  std::string base;        ///< "ns::f"
  std::string instance;    ///< "<float>", or empty
  std::string parameters;  ///< "(float*, int)"; empty for an extern "C" function, whose are unknown
};

/// Takes a mangled name apart; an unmangled one (extern "C") is all base.
[[nodiscard]] FunctionName parse_function_name(const std::string& mangled);

/// What its author calls the function or variable: the last part, "f" of "ns::f".
[[nodiscard]] std::string without_namespaces(const std::string& name);

/// "f", for people: neither namespaces nor instance nor parameters.
[[nodiscard]] std::string short_function_name(const std::string& mangled);

}  // namespace membound::base
