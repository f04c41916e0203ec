// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every entry point of the runtime, refused by name: weak, so that the ones the other files write
/// out take their places. Judge and runner speak of what a lab's test program needs and of nothing
/// else.
#include <atomic>
#include <cstdio>

namespace {

constexpr int kNotSupported = 801;  // cudaErrorNotSupported

int refuse(const char* name, std::atomic<bool>& was_said) {
  if (!was_said.exchange(true))
    std::fprintf(stderr,
                 "membound: %s cannot be used here: program and device are two processes, and it "
                 "is not passed on. Allocations, copies, launches, streams and events are.\n",
                 name);
  return kNotSupported;
}

}  // namespace

// Arguments are the caller's to clean up, so one signature serves all.
#define ENTRY_POINT(name, what)                                        \
  extern "C" __attribute__((weak, visibility("default"))) int name() { \
    static std::atomic<bool> was_said{false};                          \
    return refuse(#name, was_said);                                    \
  }
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
