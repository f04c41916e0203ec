// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory that is freed and soon wanted again.
/// Place in the chain: test programs' main() -> [freed_memory].
#pragma once

#include <malloc.h>

namespace membound::base {

/// Arrays of some megabytes come and go with every test: kept, their pages need not be made and
/// cleared anew each time. Before there is a second thread.
inline void keep_freed_memory() {
  constexpr int kKeptBytes = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);  // NOLINT(concurrency-mt-unsafe)
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace membound::base
