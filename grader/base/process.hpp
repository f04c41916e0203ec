// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs a program to its end: in a process group of its own, with a time limit, with its output
/// collected up to a limit, and with no descendant left behind, however it ends.
/// Place in the chain: judge, cli -> [process]. Left out: isolation from files and network (jail).
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::base {

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

}  // namespace membound::base
