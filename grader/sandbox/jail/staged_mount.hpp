// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files and folders shown under neutral names, in mounts that only the child and what it starts
/// can see: bubblewrap runs as a user who may not even look into the folders above them.
/// Place in the chain: root's rights -> [staged_mount] -> bubblewrap, as another user.
#pragma once

#include <cstddef>
#include <string>

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

}  // namespace membound::jail
