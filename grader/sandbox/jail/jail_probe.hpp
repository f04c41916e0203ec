// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What this machine has to build a jail with, found by trying; and the end of jails whose
/// supervisor was killed: the kernel ends nearly all of them with it (PR_SET_PDEATHSIG), but none
/// that was just being started. Internal to jail; the public face is probe().
#pragma once

#include <filesystem>
#include <string_view>

#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {

/// The parts of a jail.
struct Setup {
  std::filesystem::path bubblewrap;
  /// We may mount: files and folders are shown to bubblewrap in a place of their own, so that a
  /// user without rights to the folders above them can bind them.
  bool mounts_privately = false;
  /// RLIMIT_NPROC counts each jail by itself (Linux 5.14), or each has its own user.
  bool counts_processes = false;
  CgroupPlaces cgroups;
  Enforcement enforcement;
};

/// Whether a run gets a user number of its own.
[[nodiscard]] bool own_user(const Setup& setup);

/// This machine's, found once.
[[nodiscard]] const Setup& machine_setup();

/// Runs a program with what `setup` has; probing does so before it knows what works.
[[nodiscard]] base::Result<JailOutcome> run_with(const Setup& setup, const JailRequest& request);

/// The init's argument that names the owner; bubblewrap's own processes show it too.
inline constexpr std::string_view kOwnerOrder = "owner";

/// Ends every jail of a process that is no more, with all that runs inside.
void sweep_jails();

}  // namespace membound::jail
