// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A defence can be switched off by name, to prove that an attack gets through without it: a test
/// of a defence that passes without the defence tests nothing. Only builds with
/// MEMBOUND_FAILPOINTS=ON look at the environment; in all others nothing can be switched off.
/// Place in the chain: tests -> [switches] -> jail, judge.
#pragma once

#include <string_view>

namespace membound::base {

/// Whether this build has such switches at all.
[[nodiscard]] bool has_switches();

/// Whether MEMBOUND_SWITCH_OFF, a list with commas, names `defence`.
[[nodiscard]] bool switched_off(std::string_view defence);

}  // namespace membound::base
