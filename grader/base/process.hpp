// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Processes: running a program to its end, marking what a process leaves when it is killed,
/// and what this one has of the machine, processors and memory. Isolation from files and
/// network is the jail's.
#pragma once

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::base {

// A program runs in a process group of its own, with a time limit, with its output collected up
// to a limit, and with no descendant left behind, however it ends.

/// What to run, and when to stop it.
struct ProcessRequest {
  std::vector<std::string> arguments;  ///< the program first; without '/' it is looked up in PATH
  std::map<std::string, std::string> environment = {};  ///< on top of ours; "" removes a variable
  std::filesystem::path folder = {};                    ///< to run in; empty: ours
  double timeout_seconds = 3600;                        ///< wall clock
  std::size_t output_limit_bytes = 1 << 20;             ///< of stdout and stderr together
  const std::atomic<bool>* stop = nullptr;              ///< set by Ctrl-C: ends the program
  /// Called about twenty times a second while it runs; returning false ends it as timed out.
  std::function<bool()> keep_going = {};
  std::vector<int> descriptors = {};  ///< kept open for it, under the same numbers
};

/// How it ended.
struct ProcessOutcome {
  int exit_code = -1;  ///< -1 when it was ended by a signal
  int signal = 0;      ///< the signal that ended it, or 0
  bool timed_out = false;
  bool stopped = false;     ///< because of ProcessRequest::stop
  bool output_cut = false;  ///< it wrote more than the limit; the first part is kept
  std::string output;       ///< stdout and stderr, in the order they were written
  double seconds = 0;
};

/// Waits until the program and all its descendants have ended. An error means that it could not be
/// started. Reads nothing from our standard input.
[[nodiscard]] Result<ProcessOutcome> run_process(const ProcessRequest& request);

/// Where `program` is found in the folders of `path` (as in $PATH); empty when it is not.
[[nodiscard]] std::filesystem::path find_in_path(const std::string& program,
                                                 const std::string& path);

/// What find_in_path() and $LD_LIBRARY_PATH take: the folders with ':' between.
[[nodiscard]] std::string search_path(const std::vector<std::filesystem::path>& folders);

// An owner's mark is a word that names a process for as long as the machine runs. It is put into
// names of folders, control groups and processes. Who starts later can tell what has no owner
// any more from what is in use, also where process numbers come round again, and where
// containers and machines share a folder. Source: proc(5), starttime in /proc/PID/stat.

/// Of this process: "3f2a91c0.4026531836.1234.567890" is boot, PID namespace, number and start.
[[nodiscard]] std::string owner_mark();

/// Whether `text` begins with the mark of a process that ran here, in this namespace and since this
/// boot, and has ended. False for all else: it may be somebody else's.
[[nodiscard]] bool has_lost_its_owner(std::string_view text);

/// Processors that this thread may run on, 1 at least. hardware_concurrency() counts all of the
/// machine with glibc 2.35 and later, also in a container that has a few of them.
[[nodiscard]] inline unsigned processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Arrays of some megabytes come and go with every test: kept, their pages need not be made and
/// cleared anew each time. `shares_them`: what one thread has freed another one uses, which is slow
/// where many allocate at once. Before there is a second thread.
inline void keep_freed_memory(bool shares_them = false) {
  constexpr int kKeptBytes = 256 << 20;
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);     // NOLINT(concurrency-mt-unsafe)
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);     // NOLINT(concurrency-mt-unsafe)
  if (shares_them) mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace membound::base
