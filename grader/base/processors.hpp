// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many threads can run at once.
/// Place in the chain: exec/launch, judge, cli, release -> [processors].
#pragma once

#include <sched.h>

#include <algorithm>
#include <thread>

namespace membound::base {

/// Processors that this thread may run on, 1 at least. hardware_concurrency() counts all of the
/// machine with glibc 2.35 and later, also in a container that has a few of them.
[[nodiscard]] inline unsigned processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace membound::base
