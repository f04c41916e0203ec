// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the work clock writes of one run, a line "kind nanoseconds" each, and what follows from the
/// times of operations that ran alone. Pure; no code but this header, because it is part of two
/// programs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace membound::harness {

/// An operation; kAll: everything, as the program handed it in.
enum class WorkKind { kAll, kKernel, kCopyIn, kCopyOut, kOnDevice, kGraph };
inline constexpr std::array<std::string_view, 6> kWorkNames = {"all",      "kernel",    "copy-in",
                                                               "copy-out", "on-device", "graph"};

struct Operation {
  WorkKind kind = WorkKind::kAll;
  double ns = 0;
};

[[nodiscard]] inline std::string line_of(WorkKind kind, double ns) {
  char text[64];
  const std::string_view name = kWorkNames[static_cast<std::size_t>(kind)];
  std::snprintf(text, sizeof text, "%.*s %.1f\n", static_cast<int>(name.size()), name.data(), ns);
  return text;
}

/// Nothing where a line is not as line_of() writes it.
[[nodiscard]] inline std::optional<std::vector<Operation>> operations_from_text(
    const std::string& text) {
  std::vector<Operation> operations;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    Operation operation;
    words >> name >> operation.ns;
    const auto* const found = std::find(kWorkNames.begin(), kWorkNames.end(), name);
    if (!words || found == kWorkNames.end() || operation.ns < 0) return std::nullopt;
    operation.kind = static_cast<WorkKind>(found - kWorkNames.begin());
    operations.push_back(operation);
  }
  return operations;
}

/// Sums of operations that ran alone, for each part of the device that works on one at a time.
struct AloneTimes {
  double in_ns = 0, kernels_ns = 0, out_ns = 0;
  int kernels = 0;

  [[nodiscard]] double total_ns() const { return in_ns + kernels_ns + out_ns; }
  /// Copies beside kernels without a gap: the part that works longest, and what one of `kernels`
  /// equal operations needs of the others before and after it. Kernels whose ends overlap, or
  /// copies that follow at once, can take a little less.
  [[nodiscard]] double ideal_ns() const {
    const double longest = std::max({in_ns, kernels_ns, out_ns});
    return longest + (total_ns() - longest) / std::max(1, kernels);
  }
};

[[nodiscard]] inline AloneTimes alone_times(const std::vector<Operation>& operations) {
  AloneTimes sums;
  for (const Operation& operation : operations) {
    const bool copies = operation.kind == WorkKind::kCopyIn || operation.kind == WorkKind::kCopyOut;
    (operation.kind == WorkKind::kCopyIn    ? sums.in_ns
     : operation.kind == WorkKind::kCopyOut ? sums.out_ns
                                            : sums.kernels_ns) += operation.ns;
    if (!copies) ++sums.kernels;
  }
  return sums;
}

}  // namespace membound::harness
