// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Helpers of the PTX tests: a kernel around some statements, and the parsed result or its error.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "grader/device_code/ptx/parser.hpp"

namespace membound::ptx {

inline constexpr std::string_view kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// The tree of `text`; fails the test and gives an empty module when it does not parse.
inline Module parsed(const std::string& text) {
  base::Result<Module> module = parse(text, "test.ptx");
  if (module) return std::move(*module);
  ADD_FAILURE() << to_string(module.error());
  return {};
}

/// The tree of declarations behind the usual three lines.
inline Module parsed_module(std::string_view declarations) {
  return parsed(std::string(kHead) + std::string(declarations));
}

inline std::string kernel_text(std::string_view body) {
  return std::string(kHead) + ".entry k(.param .u64 out)\n{\n" + std::string(body) + "\n}\n";
}

/// A module whose first function is a kernel with this body; empty function on failure.
inline Module parsed_body(std::string_view body) {
  Module module = parsed(kernel_text(body));
  if (module.functions.empty()) module.functions.emplace_back();
  return module;
}

/// The error message of `text`, or "" when it parses.
inline std::string error_of(const std::string& text) {
  const base::Result<Module> module = parse(text, "test.ptx");
  return module ? "" : to_string(module.error());
}

}  // namespace membound::ptx
