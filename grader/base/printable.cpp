// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace membound::base {
namespace {

struct Range {
  std::uint32_t first, last;
};

/// Controls, and what is invisible or changes how its neighbours look.
/// Source: Unicode 15, general categories Cc, Cf, Zl, Zp, Cs, and the noncharacters.
constexpr std::array kHidden = {
    Range{0x00, 0x08},       Range{0x0B, 0x1F},      Range{0x7F, 0x9F},     Range{0xAD, 0xAD},
    Range{0x0600, 0x0605},   Range{0x061C, 0x061C},  Range{0x06DD, 0x06DD}, Range{0x115F, 0x1160},
    Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},  Range{0x200B, 0x200F}, Range{0x2028, 0x202E},
    Range{0x2060, 0x206F},   Range{0x3164, 0x3164},  Range{0xD800, 0xDFFF}, Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB},  Range{0xFFFE, 0xFFFF}, Range{0x1BCA0, 0x1BCA3},
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF}};

bool is_hidden(std::uint32_t character) {
  return std::any_of(kHidden.begin(), kHidden.end(), [character](const Range& range) {
    return character >= range.first && character <= range.last;
  });
}

/// One character of UTF-8; 0 bytes when these are none.
struct Character {
  std::uint32_t value = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(0);
  const std::size_t bytes = lead < 0x80             ? 1
                            : (lead & 0xE0) == 0xC0 ? 2
                            : (lead & 0xF0) == 0xE0 ? 3
                            : (lead & 0xF8) == 0xF0 ? 4
                                                    : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  if (bytes == 1) return {lead, 1};
  std::uint32_t value = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  // A longer form than needed is another spelling of the same character: not UTF-8.
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || value > 0x10FFFF) return {};
  return {value, bytes};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    std::array<char, 16> escape{};
    if (next.bytes == 0) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text[0]));
      shown += escape.data();
      text.remove_prefix(1);
      continue;
    }
    const bool line_end = text.starts_with("\r\n");
    if (!line_end && is_hidden(next.value)) {
      std::snprintf(escape.data(), escape.size(), next.value < 0x80 ? "\\x%02x" : "\\u{%04x}",
                    next.value);
      shown += escape.data();
    } else if (!line_end) {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace membound::base
