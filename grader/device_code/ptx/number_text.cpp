// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/number_text.hpp"

#include <cinttypes>
#include <cstdio>

namespace membound::ptx {

std::string hex(std::string_view prefix, int digits, std::uint64_t bits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*" PRIX64, digits, bits);
  return std::string(prefix) + text;
}

std::string integer(std::uint64_t bits, bool is_unsigned) {
  if (is_unsigned) return std::to_string(bits) + "U";
  const auto value = static_cast<std::int64_t>(bits);
  // The smallest number has no positive twin that could follow a minus sign.
  return value == INT64_MIN ? "(-9223372036854775807 - 1)" : std::to_string(value);
}

std::string offset(std::uint64_t bits) {
  if (bits == 0) return "";
  const auto value = static_cast<std::int64_t>(bits);
  return value == INT64_MIN ? "+" + integer(bits, true)
                            : (value < 0 ? "" : "+") + integer(bits, false);
}

}  // namespace membound::ptx
