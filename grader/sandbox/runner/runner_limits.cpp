// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/runner_limits.hpp"

#include <thread>

#include "grader/sandbox/runner/protocol.hpp"

namespace membound::runner {

int most_runner_threads() {
  // Beside the virtual GPU's workers, fewer than there are cores: the runner has two threads of its
  // own (runner_main), and on a GPU the driver some more, of which nobody promises how many. So
  // many are room for all of them, and still an end for what multiplies.
  constexpr int kOtherThreads = 64;
  return kOtherThreads + 2 * static_cast<int>(std::thread::hardware_concurrency());
}

void Allocations::add(std::uint64_t address, std::uint64_t bytes) {
  bytes_of_[address] = bytes;
  used_bytes_ += bytes;
}

std::optional<std::uint64_t> Allocations::remove(std::uint64_t address) {
  const auto found = bytes_of_.find(address);
  if (found == bytes_of_.end()) return std::nullopt;
  const std::uint64_t bytes = found->second;
  bytes_of_.erase(found);
  used_bytes_ -= bytes;
  return bytes;
}

bool Allocations::contain(std::uint64_t address, std::uint64_t bytes) const {
  auto behind = bytes_of_.upper_bound(address);
  if (behind == bytes_of_.begin()) return false;
  const auto& [start, size] = *--behind;
  // Subtracted, not added: the sum of two numbers from outside may wrap round.
  return address - start <= size && bytes <= size - (address - start);
}

bool launch_is_legal(const Launch& launch, const KernelInfo& kernel, const LaunchLimits& limits) {
  std::uint64_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] == 0 || launch.grid[axis] > limits.grid[axis]) return false;
    if (launch.block[axis] == 0 || launch.block[axis] > limits.block[axis]) return false;
    threads *= launch.block[axis];
  }
  return threads <= limits.threads_per_block && launch.shared_bytes <= limits.shared_bytes &&
         launch.parameters.size() == parameter_bytes(kernel);
}

}  // namespace membound::runner
