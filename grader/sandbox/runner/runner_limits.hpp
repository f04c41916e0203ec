// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the runner holds its requests against, decided without CUDA: which bytes of the device are
/// allocated, and what a launch may ask for; and how many threads it needs itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "grader/sandbox/runner/messages.hpp"

namespace membound::runner {

/// How many threads a runner may have at one moment, for the limits of its jail.
[[nodiscard]] int most_runner_threads();

/// The allocations of a runner, and how much more it hands out.
class Allocations {
 public:
  explicit Allocations(std::uint64_t quota_bytes) : quota_bytes_(quota_bytes) {}

  [[nodiscard]] bool fits(std::uint64_t bytes) const { return bytes <= quota_bytes_ - used_bytes_; }
  void add(std::uint64_t address, std::uint64_t bytes);
  /// Forgets the allocation that starts at `address`; its size, or nothing if there is none.
  [[nodiscard]] std::optional<std::uint64_t> remove(std::uint64_t address);
  /// Whether all of these bytes lie in one allocation.
  [[nodiscard]] bool contain(std::uint64_t address, std::uint64_t bytes) const;
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const { return bytes_of_; }

 private:
  std::map<std::uint64_t, std::uint64_t> bytes_of_;  // by address
  std::uint64_t quota_bytes_ = 0, used_bytes_ = 0;
};

/// The device's limits on any launch.
struct LaunchLimits {
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t threads_per_block = 0, shared_bytes = 0;
};

/// Whether the launch keeps them and brings exactly the kernel's parameters.
[[nodiscard]] bool launch_is_legal(const Launch& launch, const KernelInfo& kernel,
                                   const LaunchLimits& limits);

}  // namespace membound::runner
