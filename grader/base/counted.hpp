// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Numbers of things in messages: "1 wavefront", "2 wavefronts".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace membound::base {

/// The noun that stands after `count`: "byte", "bytes"; "launches", "accesses", "entries". `noun`
/// is in the singular, and may have words before it: "more kernel".
[[nodiscard]] inline std::string noun_after(double count, std::string_view noun) {
  std::string text(noun);
  if (count == 1) return text;
  if (text.ends_with("ry")) return text.replace(text.size() - 1, 1, "ies");
  return text + (text.ends_with("ch") || text.ends_with("s") ? "es" : "s");
}

/// "1 byte", "2 bytes".
[[nodiscard]] std::string counted(std::integral auto count, std::string_view noun) {
  return std::to_string(count) + " " + noun_after(static_cast<double>(count), noun);
}

}  // namespace membound::base
