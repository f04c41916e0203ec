// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <utf8proc.h>

#include <array>
#include <cstdio>

#include "grader/base/strings.hpp"

namespace membound::base {
namespace {

/// Controls, and what is invisible or changes how its neighbours look. The variation selectors of
/// the first plane stay: they choose between a letter's and an emoji's look.
bool is_hidden(utf8proc_int32_t character) {
  if (character == '\n' || character == '\t') return false;
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      const bool is_noncharacter = (character & 0xFFFE) == 0xFFFE;
      const bool is_selector = character >= 0xFE00 && character <= 0xFE0F;
      return is_noncharacter || (utf8proc_get_property(character)->ignorable && !is_selector);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  std::array<char, 16> escape{};
  while (!text.empty()) {
    utf8proc_int32_t character = 0;
    const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &character);
    const std::size_t taken = bytes > 0 ? static_cast<std::size_t>(bytes) : 1;
    if (bytes <= 0 || (character < 0x80 && is_hidden(character) && !text.starts_with("\r\n"))) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text[0]));
      shown += escape.data();
    } else if (character >= 0x80 && is_hidden(character)) {
      std::snprintf(escape.data(), escape.size(), "\\u{%04x}", static_cast<unsigned>(character));
      shown += escape.data();
    } else if (character != '\r') {
      shown += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return shown;
}

}  // namespace membound::base
