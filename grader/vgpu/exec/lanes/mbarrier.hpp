// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An mbarrier: 64 bits in shared memory that hold phase 63, expected arrivals 42…61, pending
/// arrivals 21…41, pending transaction bytes 0…20 (two's complement). The layout is ours; PTX calls
/// it opaque.
/// Place in the chain: ops_mbarrier, ops_async, bulk_copies ->
/// [mbarrier].
#pragma once

#include <cstddef>
#include <cstdint>

#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec {

/// Is it one of the questions whether a phase has ended?
[[nodiscard]] constexpr bool is_wait(program::MbarrierMode mode) {
  return mode >= program::MbarrierMode::kTestWait && mode <= program::MbarrierMode::kTryWaitParity;
}

/// One operation of one lane on the mbarrier at `place`; returns its result.
std::uint64_t operate_on_mbarrier(program::MbarrierMode mode, std::byte* place,
                                  std::uint64_t operand, bool has_operand);

}  // namespace membound::vgpu::exec
