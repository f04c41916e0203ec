// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Jails whose supervisor was killed. The kernel ends nearly all of them with it
/// (PR_SET_PDEATHSIG); not one that was just being started, between a fork and the call that asks
/// for this. Place in the chain: jail_probe -> [leftovers] -> /proc. Left out: control groups, see
/// cgroup.
#pragma once

#include <string_view>

namespace membound::jail {

/// The stage's argument that names the owner; bubblewrap's own processes show it too.
inline constexpr std::string_view kOwnerOrder = "owner";

/// Ends every jail of a process that is no more, with all that runs inside.
void sweep_jails();

}  // namespace membound::jail
