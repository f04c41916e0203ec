// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student's kernels print (printf in device code), for the message of the test that failed.
/// The CUDA runtime, real or virtual, writes it to standard output when it waits for the device.
/// Place in the chain: stage_run -> [kernel_output]. Left out: graded runs, whose kernels print in
/// another process.
#pragma once

#include <cstddef>
#include <string>

#include "grader/base/files.hpp"

namespace membound::harness {

/// Collects what goes to standard output while it lives, and keeps the beginning.
class KernelOutput {
 public:
  /// Adds to `text`, which outlives it and is cut as shown_output() says. Without effect where no
  /// file can be had.
  explicit KernelOutput(std::string& text);
  /// What was printed goes to standard output too.
  ~KernelOutput();
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

 private:
  std::string& text_;
  base::Descriptor before_, file_;
};

/// Bytes that are kept of all that one test prints.
inline constexpr std::size_t kMostKernelOutput = std::size_t{1} << 16;

/// "\nYour kernels printed:\n…", made of printable characters and cut after 20 lines, with how many
/// more there were; "" for nothing.
[[nodiscard]] std::string shown_output(const std::string& text);

}  // namespace membound::harness
