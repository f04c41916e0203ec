// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device printf: the format string and its packed arguments, read from device memory.
/// Place in the chain: ops_call -> [print] -> DeviceCalls::print.
#pragma once

#include <string>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// The zero-terminated text at a generic address, as `lane` sees it; at most 4096 bytes, "" for an
/// illegal address.
[[nodiscard]] std::string read_string(const Warp& warp, int lane, std::uint64_t address);
/// What printf(format, …) prints; `arguments` points to them, each aligned to its size.
[[nodiscard]] std::string format_print(const Warp& warp, int lane, std::uint64_t format,
                                       std::uint64_t arguments);
/// printf's return value: the number of arguments it converted.
[[nodiscard]] std::uint32_t count_conversions(const Warp& warp, int lane, std::uint64_t format);

}  // namespace membound::vgpu::exec
