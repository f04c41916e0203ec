// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/result.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace membound::base {

void fail_check(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "membound: internal error: %s is false (%s:%d); please report this\n",
               expression, file, line);
  std::fflush(stderr);
  std::_Exit(3);
}

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

std::string reason_text(int error) {
  std::array<char, 128> room{};
  return strerror_r(error, room.data(), room.size());  // GNU's, which returns the text
}

std::string signal_text(int signal) {
  const char* const text = sigdescr_np(signal);
  return text != nullptr ? text : "signal " + std::to_string(signal);
}

}  // namespace membound::base
