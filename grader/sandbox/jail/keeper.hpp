// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Between fork and exec: the process that stands between us and bubblewrap, and what both do
/// before they are what they are to be.
/// Place in the chain: supervisor -> [keeper] -> cgroup, staged_mount.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/staged_mount.hpp"

namespace membound::jail {

/// What the child needs between fork and exec, all made before: there it may only call functions
/// that are safe in a process forked from one with threads.
struct KeeperStart {
  char** arguments;
  char** environment;
  int input;
  int output;
  int report;  // receives errno when bubblewrap cannot be started
  int status;  // the stage's
  const int* kept;
  std::size_t kept_count;
  const Cgroup* cgroup;
  uid_t user;  // 0: stay who we are
  const StagedMount* mounts;
  std::size_t mount_count;
  pid_t parent;
};

/// Stands between us and bubblewrap, whose own first process inside outlives it by a moment and
/// would become a child of the machine's init; in a container that may be a program that collects
/// nobody. When the keeper has ended, nothing of the run is left; it ends with bubblewrap's code.
[[noreturn]] void become_keeper(const KeeperStart& start);

}  // namespace membound::jail
