// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the harness asks its runtime beside CUDA, by dlsym: whether the virtual GPU's checkers look
/// on, and of the forwarding runtime of a graded run how the runner is, and that several launches
/// travel in one message. With a GPU's own runtime all of this does nothing.
#pragma once

#include <dlfcn.h>
#include <cstddef>
#include <span>
#include <string>

#include <cuda_runtime_api.h>

namespace membound::harness {

/// One of the functions that the runtime has beside the CUDA API; null where it has none.
template <typename Function>
[[nodiscard]] Function* runtime_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Has the judge asked for the virtual GPU's checkers?
[[nodiscard]] bool device_checks();
/// Has it asked for checkers or a trace, which look on at all blocks of a launch?
[[nodiscard]] bool all_are_watched();

/// Device memory that was filled with a pattern counts as never written, so that a checker sees who
/// reads it. Does nothing without checkers.
void forget_writes(const void* d_begin, std::size_t bytes);

/// What became of the runner that holds `device`; empty while all is well or there is none.
[[nodiscard]] std::string runner_problem(int device);

/// Whether that runner was lost after a kernel had been launched in it: then it is the kernel's.
[[nodiscard]] bool runner_lost_after_launch(int device);

/// Whether kernels on `device` can reach the memory of the process that launches them.
[[nodiscard]] bool runner_has_pageable_access(int device);

/// Whether the kernel takes parameters of exactly these sizes. A runner's word decides how many
/// bytes of ours a launch copies, so it is held against our own; true where there is no runner.
[[nodiscard]] bool parameters_match(const void* function, std::span<const std::size_t> sizes);

/// Collects the launches, copies and events on the current device between its construction and
/// send(), so that the runner does them without waiting for us in between.
class LaunchBatch {
 public:
  LaunchBatch();
  ~LaunchBatch();
  LaunchBatch(const LaunchBatch&) = delete;
  LaunchBatch& operator=(const LaunchBatch&) = delete;

  /// The first code that is not cudaSuccess. Without a runner there was nothing to collect.
  [[nodiscard]] cudaError_t send();

 private:
  bool open_ = false;
};

}  // namespace membound::harness
