// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/words.hpp"

#include <array>
#include <charconv>

#include "grader/base/digest.hpp"

namespace membound::base {
namespace {

/// Enough of a digest to keep long names apart.
constexpr std::size_t kDigestLetters = 16;

}  // namespace

std::string decimal(double value, int digits) {
  std::array<char, 400> text{};  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

std::string file_name(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos && !(c == '.' && name.empty())) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  if (name.size() > kMostFileNameBytes)
    name = name.substr(0, kMostFileNameBytes) + "-" + sha256(text).substr(0, kDigestLetters);
  return name.empty() ? "%" : name;
}

}  // namespace membound::base
