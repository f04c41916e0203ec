// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/source_text.hpp"

#include <algorithm>

namespace membound::judge {
namespace {

/// Begins with the mark of one of the two orders of bytes, or has a zero in every other byte.
bool is_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t kEnough = 16;
  if (bytes.size() < kEnough) return false;
  const auto zeros_from = [&](std::size_t first) {
    for (std::size_t i = first; i < kEnough; i += 2)
      if (bytes[i] != '\0') return false;
    return true;
  };
  return zeros_from(0) != zeros_from(1);
}

}  // namespace

std::string why_not_text(std::string_view bytes) {
  if (is_utf16(bytes))
    return "kernel.cu is UTF-16, and compilers read UTF-8. Save it with the encoding UTF-8.";
  const std::size_t zero = bytes.find('\0');
  if (zero == std::string_view::npos) return "";
  const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<long>(zero), '\n');
  return "kernel.cu is no text: it holds a byte 0, the first in line " + std::to_string(line) +
         ". Hand in the source as your editor saves it, not what a program made of it.";
}

}  // namespace membound::judge
