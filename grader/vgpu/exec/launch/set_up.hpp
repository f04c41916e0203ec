// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a launch needs before its first block: settings, memory of its own.
/// Place in the chain: launch, sampled_launch -> [set_up] -> prepare. Left out: prepared code.
#pragma once

#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Device memory a launch needs for itself; given back at its end.
class Workspace {
 public:
  explicit Workspace(memory::AddressSpace& space) : space_(space) {}
  ~Workspace() {
    for (const std::uint64_t address : addresses_) space_.free(address);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::uint64_t take(std::uint64_t bytes, const char* name) {
    const auto address =
        space_.allocate(bytes, 256, {memory::AllocationKind::kConstant, name, true});
    if (!address) return 0;
    space_.fill(*address, std::byte{0}, bytes);
    addresses_.push_back(*address);
    return *address;
  }

 private:
  memory::AddressSpace& space_;
  std::vector<std::uint64_t> addresses_;
};

/// Fills what follows from the request alone.
void set_up(Launch& launch, const LaunchRequest& request, Workspace& workspace);

}  // namespace membound::vgpu::exec
