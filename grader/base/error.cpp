// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/error.hpp"

namespace membound::base {

std::string to_string(const Error& error) {
  std::string text;
  if (!error.where.empty()) text += error.where + ": ";
  text += error.found;
  if (!error.expected.empty()) text += "\n  expected: " + error.expected;
  if (!error.advice.empty()) text += "\n  try: " + error.advice;
  return text;
}

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kMachine:
      return "machine";
    case ErrorKind::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_code_of(ErrorKind kind) {
  return kind == ErrorKind::kUsage || kind == ErrorKind::kInput ? 2 : 3;
}

}  // namespace membound::base
