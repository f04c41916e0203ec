// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// bubblewrap's command line for one run: what is visible inside, and where.
/// Place in the chain: JailRequest -> [bubblewrap] -> supervisor. Left out: limits.
#pragma once

#include <string>
#include <vector>

#include "grader/sandbox/jail/setup.hpp"
#include "grader/sandbox/jail/staged_mount.hpp"

namespace membound::jail {

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
