// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What tests may break on purpose: named places at which a test can end the program, as a
/// power cut would, or tell it that the disk is full; and defences that can be switched off by
/// name, to prove that an attack gets through without them. Compiled in with
/// MEMBOUND_FAILPOINTS=ON (preset ci); elsewhere they cost a call.
///
///   MEMBOUND_FAILPOINT=result.renamed        SIGKILL itself when it first passes there
///   MEMBOUND_FAILPOINT=result.renamed:3      when it passes there for the third time
///   MEMBOUND_FAILPOINT=result.written=full   that step fails once with ENOSPC
///   MEMBOUND_SWITCH_OFF=name,name            those defences are off
#pragma once

#include <span>
#include <string_view>

namespace membound::base {

/// Every name, in the order in which a batch passes them.
[[nodiscard]] std::span<const std::string_view> failpoints();

/// Whether the failpoints are compiled in.
[[nodiscard]] bool has_failpoints();

/// Passing the point `name`, one of failpoints(). True: behave as if the disk were full; errno is
/// ENOSPC.
[[nodiscard]] bool failpoint(std::string_view name);

/// Whether this build has such switches at all.
[[nodiscard]] bool has_switches();

/// Whether MEMBOUND_SWITCH_OFF, a list with commas, names `defence`.
[[nodiscard]] bool switched_off(std::string_view defence);

}  // namespace membound::base
