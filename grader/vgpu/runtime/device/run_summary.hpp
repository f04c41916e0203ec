// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program's kernels took, in a few lines at its end: for `membound run`.
/// Place in the chain: kernel_launch -> [run_summary] -> finish.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::runtime {

/// Sums by kernel.
class RunSummary {
 public:
  /// One launch of the kernel with this mangled name.
  void add(const std::string& kernel, double ns, timing::BoundKind binding);

  /// Kernels by the time they took, each with what bound most of it; no line feed at the end.
  [[nodiscard]] std::string text(const std::string& device) const;

 private:
  struct Sum {
    std::uint64_t launches = 0;
    double ns = 0;
    std::map<timing::BoundKind, double> bound_ns;
  };
  std::map<std::string, Sum> kernels_;
};

/// What `membound run` says of findings: how many there were, or what was not looked for.
[[nodiscard]] std::string findings_line(bool looked, std::uint64_t findings);

}  // namespace membound::vgpu::runtime
