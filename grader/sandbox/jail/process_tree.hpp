// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a process and all its descendants use at this moment, read from /proc: for machines that
/// let us make no control group.
/// Place in the chain: /proc -> [process_tree] -> supervisor.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace membound::jail {

/// Sums over a process tree.
struct TreeUsage {
  std::size_t memory_bytes = 0;  ///< resident and not shared with a file
  double cpu_seconds = 0;        ///< including that of descendants already collected
  int processes = 0;
};

/// A process that ends while we look counts as nothing.
[[nodiscard]] TreeUsage tree_usage(pid_t root);

}  // namespace membound::jail
