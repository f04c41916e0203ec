// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the lanes of an asynchronous copy or an mbarrier point into shared memory.
/// Place in the chain: ops_async, ops_bulk, ops_mbarrier ->
/// [shared_address].
#pragma once

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {

inline std::uint64_t lane_address(const Warp& w, Ref base, const program::Access& operand,
                                  int lane) {
  return (operand.address_bits == 64 ? generic::at<const std::uint64_t>(w, base)[lane]
                                     : generic::at<const std::uint32_t>(w, base)[lane]) +
         static_cast<std::uint64_t>(operand.offset);
}

/// The offset in shared memory that a generic address stands for; any other number as it is.
inline std::uint64_t in_window(const Warp& w, std::uint64_t address) {
  const std::uint64_t offset = address - w.launch->shared_window;
  return offset < memory::AddressSpace::kSharedWindowBytes ? offset : address;
}

/// Shared-memory offset of a lane's address operand.
inline std::uint32_t shared_offset(const Warp& w, const Step* s, int lane) {
  const program::Instruction& in = *s->extra->in;
  const std::uint64_t address = lane_address(w, s->a, access_of(in), lane);
  return static_cast<std::uint32_t>(in.space == ptx::StateSpace::kShared ? address
                                                                         : in_window(w, address));
}

}  // namespace membound::vgpu::exec
