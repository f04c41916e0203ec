// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes a launch ready to run: its settings and memory of its own, a handler for every
/// instruction, and constants spread over 32 lanes.
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

/// The handler of one instruction, or the one that raises "unsupported instruction".
[[nodiscard]] Handler choose_handler(const program::Instruction& in, Variant variant,
                                     bool lanes_drawn = false);

/// Raises "unsupported instruction".
[[nodiscard]] Handler unsupported_handler();

/// Fills steps, code and constants of `launch` for every function its kernel can reach.
void prepare(Launch& launch, Variant variant);

/// The block scheduler (grid.cpp): runs all blocks of a launch, in parallel where they cannot talk
/// to each other, else interleaved on one thread in a fixed order, so that a program gives the same
/// result every time. Returns the workers with what they counted.
std::vector<std::unique_ptr<Worker>> run_grid(Launch& launch);

}  // namespace membound::vgpu::exec
