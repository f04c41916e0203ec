// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/exchange.hpp"

#include <array>

#include "grader/classroom/exchange/platforms.hpp"

namespace membound::exchange {
namespace {

constexpr std::array kFormats = {
#define MEMBOUND_PLATFORM(name, what) Format{#name, what, write_##name},
#include "grader/classroom/exchange/platforms.def"
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

base::Result<Export> write(std::string_view format, std::span<const course::Grade> grades,
                           const Settings& settings) {
  std::string names;
  for (const Format& row : kFormats) {
    if (row.name == format) return row.write(grades, settings);
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return base::Error{
      base::ErrorKind::kUsage, "--format", std::string(format), "one of " + names, {}};
}

}  // namespace membound::exchange
