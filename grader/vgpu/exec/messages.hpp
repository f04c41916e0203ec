// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sentences in which faults and findings are told.
/// Place in the chain: exec -> [messages] -> runtime, reports.
#pragma once

#include <string>

#include "grader/vgpu/exec/access.hpp"

namespace membound::vgpu::exec {

/// "read of 4 bytes at 0x… is 8 bytes past the end of the 4096-byte allocation 3 (cudaMalloc)…"
[[nodiscard]] std::string describe_bad_access(const Warp& warp, const WarpAccess& access,
                                              FaultKind kind, std::uint32_t lane);
/// "the 4096 bytes at 0x… (allocation 3, cudaMalloc)"
[[nodiscard]] std::string describe(const memory::Allocation& allocation);
/// "0x7f00"
[[nodiscard]] std::string hex(std::uint64_t value);
/// What an instruction the virtual GPU cannot run would take.
[[nodiscard]] std::string describe_unsupported(const program::Instruction& in);

}  // namespace membound::vgpu::exec
