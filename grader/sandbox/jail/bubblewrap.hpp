// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files and folders shown under neutral names, in mounts that only the child and what it starts
/// can see: bubblewrap runs as a user who may not even look into the folders above them.
/// Place in the chain: root's rights -> [staged_mount] -> bubblewrap, as another user.
///
/// bubblewrap's command line for one run: what is visible inside, and where.
/// Place in the chain: JailRequest -> [bubblewrap] -> supervisor. Left out: limits.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grader/sandbox/jail/jail_probe.hpp"

namespace membound::jail {

inline constexpr std::size_t kMostStaged = 64;

/// One of them, all text made ready beforehand.
struct StagedMount {
  /// `number` tells it from others of the same run.
  StagedMount(std::string path, bool folder, std::size_t number);

  std::string source;
  std::string target;  ///< where bubblewrap finds it
  bool is_folder;
};

/// For the child, between fork and exec: a private view of the mounts, with these in it. Nothing is
/// done for none, and no more than kMostStaged are possible.
[[nodiscard]] bool stage_mounts(const StagedMount* mounts, std::size_t count);

/// Whether this process may do that; tried in a child.
[[nodiscard]] bool can_stage_mounts();

/// Descriptors, as numbers that bubblewrap inherits.
struct InheritedDescriptors {
  int filter = -1;  ///< -1: no system call filter
  int info = -1;    ///< bubblewrap tells the process number here
  int stage = -1;   ///< the stage's program
  int status = -1;  ///< the stage reports here
};

/// A command, and what has to be mounted before it starts.
struct BubblewrapCommand {
  std::vector<std::string> arguments;
  std::vector<StagedMount> mounts;
};

/// The whole command: bubblewrap, then the stage, then the program.
[[nodiscard]] base::Result<BubblewrapCommand> bubblewrap_command(
    const Setup& setup, const JailRequest& request, const InheritedDescriptors& descriptors);

}  // namespace membound::jail
