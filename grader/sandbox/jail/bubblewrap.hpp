// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A jail as bubblewrap makes it. What this machine has for one, found by trying. The command line
/// for one run: what is visible inside, and where. Private mounts, which show files and folders
/// under neutral names to bubblewrap alone, because it runs as a user who may not even look into
/// the folders above them. And the end of jails whose supervisor was killed: the kernel ends nearly
/// all of them with it (PR_SET_PDEATHSIG), but none that was just being started. Internal to jail;
/// the public face is probe().
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
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

inline constexpr std::size_t kMostPrivateMounts = 64;

/// One of them, all text made ready beforehand.
struct PrivateMount {
  /// `number` tells it from others of the same run.
  PrivateMount(std::string path, bool folder, std::size_t number);

  std::string source;
  std::string target;  ///< where bubblewrap finds it
  bool is_folder;
};

/// For the child, between fork and exec: a private view of the mounts, with these in it. Nothing is
/// done for none, and no more than kMostPrivateMounts are possible.
[[nodiscard]] bool mount_privately(const PrivateMount* mounts, std::size_t count);

/// Whether this process may do that; tried in a child.
[[nodiscard]] bool can_mount_privately();

/// Descriptors, as numbers that bubblewrap inherits.
struct InheritedDescriptors {
  int filter = -1;  ///< -1: no system call filter
  int info = -1;    ///< bubblewrap tells the process number here
  int init = -1;    ///< the init's program
  int status = -1;  ///< the init reports here
};

/// A command, and what has to be mounted before it starts.
struct BubblewrapCommand {
  std::vector<std::string> arguments;
  std::vector<PrivateMount> mounts;
};

/// The whole command: bubblewrap, then the init, then the program.
[[nodiscard]] base::Result<BubblewrapCommand> bubblewrap_command(
    const Setup& setup, const JailRequest& request, const InheritedDescriptors& descriptors);

/// Which system calls the program may not make, as the bytes of a seccomp program (BPF) that
/// bubblewrap loads; made once a profile.
[[nodiscard]] base::Result<std::string> filter_bytes(SyscallProfile profile);

/// A file in memory with these bytes, at its start.
[[nodiscard]] base::Descriptor memory_file(const char* name, const std::string& bytes);

}  // namespace membound::jail
