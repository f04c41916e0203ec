// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything the virtual GPU says on standard error, in one place, so that it can be read,
/// reviewed and tested together. Place in the chain: context, operation_executor, signals ->
/// [console_messages]. Decides nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/memory/address_space.hpp"

namespace membound::vgpu::runtime::messages {

/// Prints "membound: …" and a line end to standard error, without buffering.
void print(const std::string& text);

/// A fault or finding: what, where, which thread.
[[nodiscard]] std::string fault(const exec::Fault& fault);
[[nodiscard]] std::string finding(const exec::CheckReport& report);
/// Code that cannot be run: no PTX, broken PTX. `kernel` may be empty.
[[nodiscard]] std::string unusable_code(const std::string& kernel, const base::Error& error);
/// A call the virtual GPU does not have.
[[nodiscard]] std::string missing_call(std::string_view entry_point);
/// Memory nobody freed.
[[nodiscard]] std::string leak(const memory::Allocation& allocation);
/// A launch that was refused, and nobody asked; `why` may be empty.
[[nodiscard]] std::string unchecked_launch(std::string_view kernel, cudaError_t code,
                                           std::string_view why);
/// A launch that was refused for its size.
[[nodiscard]] std::string refused_launch(std::string_view kernel, std::string_view why);
/// Kernel output that was never shown.
[[nodiscard]] std::string lost_output(std::size_t bytes);
/// Kernel output for which printf's buffer had no room.
[[nodiscard]] std::string dropped_output(std::size_t lines, std::size_t buffer_bytes);

/// "out of memory" and the other texts of error_table.def.
[[nodiscard]] const char* error_text(int code);
/// "cudaErrorMemoryAllocation".
[[nodiscard]] const char* error_name(int code);

}  // namespace membound::vgpu::runtime::messages
