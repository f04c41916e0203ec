// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An mbarrier: 64 bits in shared memory that hold phase 63, expected arrivals 42…61, pending
/// arrivals 21…41, pending transaction bytes 0…20 (two's complement); the layout is ours, PTX calls
/// it opaque. And the bulk copies of a block that were read and not yet written: each lands where
/// its mbarrier is waited on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec {

/// Is it one of the questions whether a phase has ended?
[[nodiscard]] constexpr bool is_wait(program::MbarrierMode mode) {
  return mode >= program::MbarrierMode::kTestWait && mode <= program::MbarrierMode::kTryWaitParity;
}

/// One operation of one lane on the mbarrier at `place`; returns its result.
std::uint64_t operate_on_mbarrier(program::MbarrierMode mode, std::byte* place,
                                  std::uint64_t operand, bool has_operand);

/// Lands those that `barrier` is waited on for.
void land_bulk_copies(Warp& w, std::uint64_t barrier);

/// As for the copies of a warp: what nobody waits for is kept in memory of ours.
void limit_bulk_copies(Warp& w);

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
