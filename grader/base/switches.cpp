// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/switches.hpp"

#include <cstdlib>
#include <string>

namespace membound::base {
namespace {

#ifdef MEMBOUND_FAILPOINTS
constexpr bool kHasSwitches = true;
#else
constexpr bool kHasSwitches = false;
#endif

}  // namespace

bool has_switches() { return kHasSwitches; }

bool switched_off(std::string_view defence) {
  if (!kHasSwitches) return false;
  const char* const value = std::getenv("MEMBOUND_SWITCH_OFF");
  if (value == nullptr) return false;
  const std::string list = "," + std::string(value) + ",";
  return list.find("," + std::string(defence) + ",") != std::string::npos;
}

}  // namespace membound::base
