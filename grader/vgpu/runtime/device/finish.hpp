// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a program ends: by itself, by a crash, by Ctrl-C. In each case the counters file is written;
/// at an orderly end the open questions (leaks, unchecked launches) are said.
/// Place in the chain: context -> [finish] -> report log.
#pragma once

#include <cstdint>
#include <string>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

namespace membound::vgpu::runtime {

struct HostMemory;
class Context;

/// Handlers for signals the program left alone: crashes write the counters file and then happen as
/// they would have; Ctrl-C stops a running kernel first. A crash on a device address says so.
void install_signal_handlers();

/// Does a segmentation fault still come to us? A program may have taken it since.
[[nodiscard]] bool takes_crashes();

/// Ends the program as Ctrl-C does, after a kernel was stopped.
[[noreturn]] void end_stopped(Context& context);

/// Gives host memory of the API back to the system.
void release_host_memory(std::uint64_t address, const HostMemory& memory);

/// A launch that `<<<…>>>` could not hand an error to.
struct UncheckedLaunch {
  std::string kernel;
  cudaError_t code = cudaSuccess;
  std::string why;  ///< which limit it passed; empty: another error
};
/// Is kept until somebody asks for the last error.
void note_unchecked_launch(UncheckedLaunch launch);
/// Somebody asked: the code does not tell which limit it was, so that is said where a checker is
/// on.
void launch_error_is_read();

}  // namespace membound::vgpu::runtime
